// What the binary readers share: types of numbers, sources of bytes, and the one conversion from
// stored numbers to points. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/data/dataset.hpp"
#include "fwsr/data/read.hpp"

namespace fwsr {

// ------------------------------------------------------------------------------------ numbers in
// files

enum class NumberKind { boolean, signed_integer, unsigned_integer, floating, bfloat };

/// How one number is stored. Sizes: integers 1, 2, 4, 8 bytes; floating 2, 4, 8; boolean 1; bfloat 2.
struct NumberType {
  NumberKind kind = NumberKind::floating;
  Index size = 0;  // bytes
  bool big_endian = false;
};

/// "float32", "uint8", "bool", ...
std::string name_of(const NumberType& type);
/// True when float32 holds every value of the type; the others become float64.
bool fits_single(const NumberType& type);
/// What numbers of the type are held as, where that is narrow: themselves, and bool as uint8.
std::optional<NarrowNumber> narrow_number(const NumberType& type);
/// How points of the type are held: "uint8", "float32", ...
std::string name_of_points(const NumberType& type);
Index bytes_of_points(const NumberType& type);

/// rows x cols stored numbers.
struct StoredMatrix {
  NumberType type;
  Index rows = 0;
  Index cols = 0;
  bool by_columns = false;  // Fortran order, as MATLAB stores
};

// ------------------------------------------------------------------------------------ bytes, in
// order

/// Fills the whole span with the next bytes, or says what is wrong, beginning with the file's name.
using ByteSource = std::function<Result<Done>(std::span<std::byte>)>;

/// Reads on through `bytes`, which must outlive it.
ByteSource source_of(std::span<const std::byte> bytes, std::string name);

// -------------------------------------------------------------------------------- numbers into
// memory

/// The points of `stored`: narrow numbers as they are, others as float32 where that holds every value, else float64, row
/// by row. Every conversion adds a sentence to `notes`. `name` begins every message. Here and below
/// `memory` counts what is taken, before it is.
Result<PointsStorage> read_points(const std::string& name, const StoredMatrix& stored,
                                  const ByteSource& next, std::vector<std::string>& notes,
                                  MemoryShare& memory);
/// The same with narrow numbers as float32.
Result<PointsStorage> read_wide_points(const std::string& name, const StoredMatrix& stored,
                                       const ByteSource& next, std::vector<std::string>& notes,
                                       MemoryShare& memory);
/// The narrow numbers of `stored`, row by row in this machine's byte order, where they stand in `file` from byte
/// `offset` on; nothing when they must be copied.
std::optional<PointsStorage> map_narrow_points(FileBytes& file, const StoredMatrix& stored,
                                               Index offset);

/// `count` numbers of `type` at `from` as float32 or float64.
template <class T>
void convert(const NumberType& type, const std::byte* from, Index count, T* out);

/// `count` integers; refuses types that are not integers and values beyond 63 bits.
Result<std::vector<std::int64_t>> read_integers(const std::string& name, const NumberType& type,
                                                Index count, const ByteSource& next,
                                                MemoryShare& memory);

/// `count` labels: integers as they are, whole floats without a decimal point, False and True.
Result<std::vector<std::string>> read_number_labels(const std::string& name, const NumberType& type,
                                                    Index count, const ByteSource& next,
                                                    MemoryShare& memory);

// -------------------------------------------------------------------------------------------
// refusals

/// Options that only text files can honour, asked of a binary one. `has_variables`: the format
/// holds named arrays, so that `variable` and `label_column` mean something; `has_ids`: and `id_column`.
std::optional<Failure> find_unusable_option(const std::string& name, const char* format,
                                            const ReadOptions& options, bool has_variables,
                                            bool has_ids = false);

/// `text` for a message: at most 64 bytes of it, control characters as '?'.
std::string printable(std::string_view text);

/// "'a', 'b' and 2 more": names for a message, at most `limit` of them.
std::string list_names(const std::vector<std::string>& names, std::size_t limit = 20);

/// `work()`, with running out of memory turned into a Failure.
template <class Work>
auto within_memory(const std::string& name, Work&& work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return Failure{name + ": does not fit in memory"};
  } catch (const MemoryError& e) {
    return Failure{e.what()};
  } catch (const std::length_error&) {
    return Failure{name + ": does not fit in memory"};
  }
}

}  // namespace fwsr
