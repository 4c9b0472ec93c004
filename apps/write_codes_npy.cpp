#include "apps/select_writers.hpp"
#include "fwsr/data/write.hpp"

namespace fwsr::app {

void write_codes_npy(std::ostream& out, const SelectResult& result, const WriteStyle&) {
  const Index points = rows_of(result.data.view());
  const auto columns = static_cast<Index>(picks_of(result).size());
  const std::vector<double> laid_out =
      result.per_class ? class_codes_of(result) : std::vector<double>();
  const std::vector<double>& codes =
      result.per_class ? laid_out : result.parts.front().selection.codes;
  write_npy(out, MatrixView<const double>{codes.data(), points, columns, columns});
}

}  // namespace fwsr::app
