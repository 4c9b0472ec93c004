#include "fwsr/data/labels.hpp"

#include <optional>

#include <fmt/format.h>

#include "fwsr/base/string_bytes.hpp"
#include "fwsr/data/csv_tokens.hpp"
#include "fwsr/data/text.hpp"

namespace fwsr {

namespace {

std::optional<Trouble> find_trouble(const Field& field) {
  if (field.problem) return Trouble{field.at, field.problem};
  if (field.text.empty()) return Trouble{field.at, "the label is empty; every line needs a label"};
  const std::size_t separator = field.quoted ? field.text.npos : field.text.find_first_of(",;\t");
  if (separator != field.text.npos || !field.last)
    return Trouble{field.at,
                   fmt::format("{} holds several fields; a label file has one label a line (quote "
                               "labels that hold commas, semicolons or tabs)",
                               show(field.text))};
  return find_nul(field.text, field.at + (field.quoted ? 1 : 0));
}

}  // namespace

Result<std::vector<std::string>> text_labels(const FileBytes& file, const MemoryBudget& budget) {
  const std::string_view text = content_of(file.text());
  if (text.empty())
    return Failure{
        fmt::format("{}: is empty; it needs a label for every point, one a line", file.name())};
  std::vector<std::string> labels;
  MemoryShare memory(budget);
  for (Tokenizer tokens(text, no_separator); !tokens.at_end();) {
    const Field field = tokens.next();
    if (const auto trouble = find_trouble(field)) return locate(file.name(), text, *trouble);
    labels.push_back(tidy_label(field.value()));
    if (auto refusal = memory.grow(file.name(), growing_string_bytes(labels.back())))
      return *refusal;
  }
  return labels;
}

std::optional<Failure> add_labels(const std::string& name, const std::vector<std::string>& words,
                                  MemoryShare& memory, Labels& labels) {
  if (auto refusal = memory.grow(name, std::ssize(words), sizeof(Labels::Code))) return refusal;
  labels.reserve(labels.size() + words.size());
  // Of a new name: the string, in a list that grows, and up to four places in the table of names.
  constexpr Index places = 4 * Index{sizeof(Labels::Code)};
  for (const std::string& word : words)
    if (labels.add(word))
      if (auto refusal = memory.grow(name, growing_string_bytes(word) + places)) return refusal;
  return std::nullopt;
}

}  // namespace fwsr
