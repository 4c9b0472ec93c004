// Writing arrays and fields of tables.
#pragma once

#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

#include "fwsr/base/index.hpp"
#include "fwsr/base/result.hpp"

namespace fwsr {

/// Writes a two-dimensional .npy file (float32, float64 or int64, C order), whole or not at all.
Result<Done> write_npy(const std::string& path, MatrixView<const float> matrix);
Result<Done> write_npy(const std::string& path, MatrixView<const double> matrix);
Result<Done> write_npy(const std::string& path, MatrixView<const std::int64_t> matrix);

/// The same for a one-dimensional array.
Result<Done> write_npy(const std::string& path, std::span<const float> values);
Result<Done> write_npy(const std::string& path, std::span<const double> values);
Result<Done> write_npy(const std::string& path, std::span<const std::int64_t> values);

/// The same as part of something larger.
void write_npy(std::ostream& out, MatrixView<const float> matrix);
void write_npy(std::ostream& out, MatrixView<const double> matrix);
void write_npy(std::ostream& out, MatrixView<const std::int64_t> matrix);
void write_npy(std::ostream& out, std::span<const float> values);
void write_npy(std::ostream& out, std::span<const double> values);
void write_npy(std::ostream& out, std::span<const std::int64_t> values);

/// `text` as one field of a csv file (RFC 4180): in quotes when it needs them. With `defuse`, text
/// that a spreadsheet would take for a formula has an apostrophe in front; numbers stay.
std::string csv_field(std::string_view text, bool defuse = false);

}  // namespace fwsr
