// What must not compile, and the words that say why: one case at a time, by -D CASE=number.
// tests/install_test.sh looks for the words behind "refused:".
#include <string>
#include <vector>

#include <fwsr/fwsr.hpp>

/// What Eigen's matrices answer to.
struct ColumnMajor {
  using Scalar = double;
  enum { IsRowMajor = 0 };
  const double* data() const;
  long rows() const;
  long cols() const;
  long innerStride() const;
  long outerStride() const;
};

std::vector<float> make();
extern const std::vector<std::vector<double>> rows;
extern const std::vector<int> integers;
extern const std::vector<long long> starts, columns;
extern const std::vector<double> values;
extern const ColumnMajor matrix;

#if CASE == 1  // refused: copy it by fwsr::copy_rows
const auto points = fwsr::view(rows, 2, 2);
#elif CASE == 2  // refused: keep them in a variable that outlives it
const auto points = fwsr::view(make(), 2, 2);
#elif CASE == 3  // refused: points are float, double, or integers of 8 or 16 bits
const auto points = fwsr::view(integers, 2, 2);
#elif CASE == 4  // refused: use fwsr::view_of_columns
const auto points = fwsr::view(matrix);
#elif CASE == 5  // refused: deleted
const auto points = fwsr::view_of_columns(ColumnMajor());
#elif CASE == 6  // refused: column numbers are std::int32_t or std::int64_t
const auto points = fwsr::csr_view(starts, columns, values, 3);
#elif CASE == 7  // refused: no matching function
const auto labels = fwsr::select_per_class({}, std::vector<double>{1.5}, {}, {});
#elif CASE == 0
const auto points = fwsr::view_of_columns(matrix);
#else
#error "there is no such case"
#endif
