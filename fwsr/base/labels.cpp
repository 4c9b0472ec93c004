#include "fwsr/base/labels.hpp"

#include <functional>
#include <limits>

#include <fmt/format.h>

#include "fwsr/base/result.hpp"
#include "fwsr/base/string_bytes.hpp"

namespace fwsr {

namespace {

constexpr Labels::Code nobody = -1;

/// Where `name` stands in a table of codes, or would.
std::size_t place_of(std::string_view name, const std::vector<Labels::Code>& places,
                     const std::vector<std::string>& names) {
  const std::size_t mask = places.size() - 1;
  std::size_t p = std::hash<std::string_view>{}(name)&mask;
  while (places[p] != nobody && names[static_cast<std::size_t>(places[p])] != name)
    p = (p + 1) & mask;
  return p;
}

}  // namespace

Labels::Labels(const std::vector<Code>& codes, const std::vector<std::string>& names) {
  std::vector<Code> own;
  for (const std::string& name : names) own.push_back(code_of(name));
  codes_.reserve(codes.size());
  for (const Code code : codes) {
    if (code < 0 || code >= std::ssize(own))
      throw Error(
          fmt::format("point {} has the class code {}; there are {} names, so that codes are "
                      "0 to {}",
                      codes_.size(), code, own.size(), std::ssize(own) - 1));
    codes_.push_back(own[static_cast<std::size_t>(code)]);
  }
}

Labels::Labels(const std::vector<std::string>& words) {
  codes_.reserve(words.size());
  for (const std::string& word : words) add(word);
}

bool Labels::add(std::string_view name) {
  const std::size_t before = names_.size();
  codes_.push_back(code_of(name));
  return names_.size() > before;
}

Labels::Code Labels::code_of(std::string_view name) {
  if (2 * names_.size() >= places_.size()) {
    if (std::ssize(names_) > std::numeric_limits<Code>::max() / 4)
      throw Error(fmt::format("there are more than {} different labels", names_.size()));
    places_.assign(places_.empty() ? 16 : 2 * places_.size(), nobody);
    for (std::size_t c = 0; c < names_.size(); ++c)
      places_[place_of(names_[c], places_, names_)] = static_cast<Code>(c);
  }
  Code& code = places_[place_of(name, places_, names_)];
  if (code == nobody) {
    names_.emplace_back(name);
    code = static_cast<Code>(names_.size() - 1);
  }
  return code;
}

std::vector<Index> Labels::counts() const {
  std::vector<Index> counts(names_.size(), 0);
  for (const Code code : codes_) ++counts[static_cast<std::size_t>(code)];
  return counts;
}

std::vector<std::string> Labels::words() const {
  std::vector<std::string> words;
  words.reserve(size());
  for (std::size_t i = 0; i < size(); ++i) words.push_back((*this)[i]);
  return words;
}

Index Labels::bytes() const {
  auto bytes = static_cast<Index>((codes_.capacity() + places_.capacity()) * sizeof(Code) +
                                  names_.capacity() * sizeof(std::string));
  for (const std::string& name : names_) bytes += heap_bytes(name);
  return bytes;
}

bool operator==(const Labels& a, const Labels& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i]) return false;
  return true;
}

}  // namespace fwsr
