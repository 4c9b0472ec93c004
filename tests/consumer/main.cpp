#include <cstdio>
#include <string_view>
#include <vector>

#include <fwsr/methods/methods.hpp>
#include <fwsr/version.hpp>

// The header, the package and its version file, or the .pc file, are of one version.
static_assert(std::string_view(FWSR_VERSION) == FOUND_VERSION);
#if FWSR_VERSION_NUMBER < 100 || FWSR_VERSION_NUMBER / 10000 != FWSR_VERSION_MAJOR
#error "FWSR_VERSION_NUMBER is no number that grows with the version"
#endif

int main() {
  // Three directions, each taken by several points; one exemplar of each is enough.
  std::vector<float> x;
  for (int i = 0; i < 12; ++i)
    for (int l = 0; l < 3; ++l)
      x.push_back(i % 3 == l ? 1.0f + 0.1f * static_cast<float>(i) : 0.0f);
  const fwsr::MatrixView<const float> points{x.data(), 12, 3, 3};

  const fwsr::Selection s = fwsr::select(points, {.exemplars = 3, .center = fwsr::Center::none});
  for (const fwsr::Index e : s.exemplars) std::printf("%td ", e);
  std::printf("%s, reconstruction error %.1e\n", fwsr::name_of(s.status),
              s.certificate->reconstruction_error);

  // Any other method by its name: the points farthest from the span of those before.
  const fwsr::Selection q =
      fwsr::select(points, {.exemplars = 3}, fwsr::MethodChoice{.name = "rrqr"});
  for (const fwsr::Index e : q.exemplars) std::printf("%td ", e);
  std::printf("by rrqr, one of %zu methods\n", fwsr::methods().size());
  if (q.exemplars != std::vector<fwsr::Index>{11, 10, 9}) return 1;
  return s.exemplars.size() == 3 && s.certificate->reconstruction_error < 1e-12 ? 0 : 1;
}
