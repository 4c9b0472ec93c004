// The readers, one per format, behind one shape. Internal: users call read_dataset.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fwsr/base/files.hpp"
#include "fwsr/base/growing_bytes.hpp"
#include "fwsr/data/dataset.hpp"
#include "fwsr/data/read.hpp"

namespace fwsr {

/// One way of storing points.
struct Format {
  const char* name;       // "npy"
  const char* long_name;  // "NumPy array (.npy)"
  bool (*recognises)(const FileBytes& file);
  Result<Dataset> (*read)(FileBytes file, const ReadOptions& options);
};

// Each of these stands in the file of its name. `recognises` looks at the content first; only the
// text formats (csv, libsvm) may also look at the name.
Format npy_format();     // npy.cpp
Format npz_format();     // npz.cpp: one array, or SciPy's CSR (scipy.sparse.save_npz)
Format idx_format();     // idx.cpp: MNIST's format, plain or gzip-compressed
Format mat_format();     // mat.cpp: MATLAB 5 to 7.2
Format libsvm_format();  // libsvm.cpp
Format csv_format();     // csv.cpp: comma, tab or semicolon separated

// Labels from a file that holds nothing else: one column (or, for mat, one row) of numbers or text.
// Each stands beside the reader of its format.
using LabelsResult = Result<std::vector<std::string>>;
LabelsResult npy_labels(const FileBytes& file, const MemoryBudget& budget = MemoryBudget());
LabelsResult npz_labels(const FileBytes& file, const MemoryBudget& budget = MemoryBudget());
LabelsResult idx_labels(const FileBytes& file, const MemoryBudget& budget = MemoryBudget());
LabelsResult mat_labels(const FileBytes& file, const MemoryBudget& budget = MemoryBudget());

/// The name of the format of these bytes; empty where none knows them.
std::string format_of(const FileBytes& file);

/// Inflates gzip bytes (all members). Refuses more than `budget` allows, broken and truncated data.
/// Throws Interrupted when `keep_going` says no.
Result<GrowingBytes> gunzip(std::span<const std::byte> compressed, const std::string& name,
                            const MemoryBudget& budget, const KeepGoing& keep_going = {});
bool looks_like_gzip(std::span<const std::byte> bytes);

}  // namespace fwsr
