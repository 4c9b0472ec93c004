// The table of the kernels, and what it tells.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "fwsr/kernel/formula.hpp"

namespace fwsr {

#define FWSR_DECLARE(name) KernelFormula name##_kernel();
FWSR_KERNELS(FWSR_DECLARE)
#undef FWSR_DECLARE

const KernelFormula& formula_of(KernelType type) {
#define FWSR_ENTRY(name) name##_kernel(),
  static const std::vector<KernelFormula> table = {FWSR_KERNELS(FWSR_ENTRY)};
#undef FWSR_ENTRY
  return table.at(static_cast<std::size_t>(type));
}

const char* name_of(KernelType v) {
  return formula_of(v).name;
}

KernelNumbers numbers_of(const Kernel& kernel, double unit, const Affine& scale) {
  const KernelFormula& formula = formula_of(kernel.type);
  const double gamma = formula.has_gamma ? kernel.gamma.value() / unit : 1 / unit;
  return {.gamma = std::min(formula.of == KernelOf::absolute_distances ? gamma : gamma / unit,
                            std::numeric_limits<double>::max()),  // so that gamma 0 is 0
          .coef0 = kernel.coef0,
          .degree = kernel.degree,
          .scale = scale};
}

namespace {

using Which = bool (*)(const KernelFormula&);

/// "a, b or c" of the kernels that `which` takes.
std::string names_of(Which which, const std::string& last) {
  std::vector<std::string> names;
  for (const KernelType type : values_of(KernelType{}))
    if (which(formula_of(type))) names.emplace_back(name_of(type));
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 < names.size() ? ", " : last) + names[i];
  return text;
}

/// width.cpp finds it.
std::string width_of(const KernelFormula& formula) {
  return formula.of == KernelOf::squared_distances    ? "1 / median squared distance"
         : formula.of == KernelOf::absolute_distances ? "1 / median L1 distance"
                                                      : "1 / mean squared norm";
}

std::string widths() {
  std::string text;
  for (const KernelType type : values_of(KernelType{}))
    if (const KernelFormula& f = formula_of(type); f.has_gamma)
      text += (text.empty() ? "" : "; ") + std::string(f.name) + ": " + width_of(f);
  return text;
}

}  // namespace

const KernelWords& kernel_words() {
  static const KernelWords words{
      .all = names_of([](const KernelFormula&) { return true; }, " or "),
      .computed = names_of([](const KernelFormula& f) { return f.computed(); }, " and "),
      .with_degree = names_of([](const KernelFormula& f) { return f.has_degree; }, " and "),
      .widths = widths()};
  return words;
}

}  // namespace fwsr
