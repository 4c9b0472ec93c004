#include <cstdint>
#include <cstdio>
#include <string_view>
#include <vector>

#include <fwsr/fwsr.hpp>

#include "eigen.hpp"

// The header, the package and its version file, or the .pc file, are of one version.
static_assert(std::string_view(FWSR_VERSION) == FOUND_VERSION);
#if FWSR_VERSION_NUMBER < 100 || FWSR_VERSION_NUMBER / 10000 != FWSR_VERSION_MAJOR
#error "FWSR_VERSION_NUMBER is no number that grows with the version"
#endif
#ifdef _OPENMP
#error "who uses the library is compiled with OpenMP, and did not ask for it"
#endif

namespace {

bool chooses_three(const fwsr::PointsView& points) {
  const fwsr::Selection s = fwsr::select(points, {.exemplars = 3, .center = fwsr::Center::none});
  for (const fwsr::Index e : s.exemplars) std::printf("%td ", e);
  std::printf("%s, reconstruction error %.1e\n", fwsr::name_of(s.status),
              s.certificate->reconstruction_error);
  return s.exemplars.size() == 3 && s.certificate->reconstruction_error < 1e-12;
}

/// Any other method by its name: the points farthest from the span of those before.
bool chooses_by_rrqr(const fwsr::PointsView& points) {
  const fwsr::Selection q =
      fwsr::select(points, {.exemplars = 3}, fwsr::MethodChoice{.name = "rrqr"});
  for (const fwsr::Index e : q.exemplars) std::printf("%td ", e);
  std::printf("by rrqr, one of %zu methods\n", fwsr::methods().size());
  return q.exemplars == std::vector<fwsr::Index>{11, 10, 9};
}

/// Labels are integers, or codes and names; one exemplar of each class.
bool chooses_per_class(const fwsr::PointsView& points) {
  std::vector<int> numbers;
  std::vector<fwsr::Labels::Code> codes;
  for (int i = 0; i < 12; ++i) numbers.push_back(i % 3), codes.push_back(i % 3);
  const auto by_number = fwsr::select_per_class(points, numbers, {.number = 1}, {});
  const auto by_name =
      fwsr::select_per_class(points, {codes, {"ant", "bee", "cat"}}, {.number = 1}, {});
  bool same = by_number.size() == 3 && by_name.size() == 3;
  for (std::size_t c = 0; same && c < 3; ++c) {
    std::printf("%s: %td  ", by_name[c].name.c_str(), by_name[c].selection.exemplars[0]);
    same = by_number[c].selection.exemplars == by_name[c].selection.exemplars;
  }
  std::printf("\n");
  return same;
}

bool refuses_rows_that_overlap(const std::vector<float>& x) {
  try {
    fwsr::select(fwsr::MatrixView<const float>{x.data(), 12, 3, 1}, {.exemplars = 3});
  } catch (const fwsr::Error& e) {
    std::printf("refused: %s\n", e.what());
    return true;
  }
  return false;
}

}  // namespace

int main() {
  // Three directions, each taken by several points; one exemplar of each is enough.
  std::vector<float> x;
  std::vector<std::int32_t> starts{0}, columns;
  std::vector<float> values;
  for (int i = 0; i < 12; ++i) {
    for (int l = 0; l < 3; ++l)
      x.push_back(i % 3 == l ? 1.0f + 0.1f * static_cast<float>(i) : 0.0f);
    columns.push_back(i % 3);
    values.push_back(1.0f + 0.1f * static_cast<float>(i));
    starts.push_back(i + 1);
  }
  const auto points = fwsr::view(x, 12, 3);
  const bool right = chooses_three(points) && chooses_by_rrqr(points) &&
                     chooses_per_class(points) &&
                     chooses_three(fwsr::csr_view(starts, columns, values, 3)) &&
                     refuses_rows_that_overlap(x) && eigen_works();
  return right ? 0 : 1;
}
