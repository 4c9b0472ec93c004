// The classes of points.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "fwsr/base/index.hpp"

namespace fwsr {

namespace detail {

/// A list of integers; characters and truth values are none.
template <class List>
concept Integers = std::ranges::input_range<const List&> &&
                   std::integral<std::ranges::range_value_t<const List&>> &&
                   sizeof(std::ranges::range_value_t<const List&>) > 1;

}  // namespace detail

/// The class of every point: a code, which is the place of its name in a list of names. Four bytes a
/// point, whatever the names are.
///
/// Made of codes and names, or of a list that has one word or one integer for each point:
///
///     Labels(codes, {"cat", "dog"})
///     Labels(std::vector<std::string>{"cat", "dog", "cat"})
///     Labels(std::vector<int>{3, 7, 3})     // the classes "3" and "7"
///
/// Such lists also turn into Labels by themselves where Labels are asked for.
class Labels {
 public:
  using Code = std::int32_t;

  Labels() = default;
  /// Names that are equal are one class; a name may have no point. Throws Error for a code without a
  /// name.
  Labels(const std::vector<Code>& codes, const std::vector<std::string>& names);
  Labels(const std::vector<std::string>& words);
  /// Integers, whose classes are called as they are written.
  template <detail::Integers Numbers>
  Labels(const Numbers& numbers) {
    for (const auto number : numbers) add(std::to_string(number));
  }

  /// One more point, of the class of this name. True when there was none of that name.
  bool add(std::string_view name);
  /// Room for so many points.
  void reserve(std::size_t points) { codes_.reserve(points); }

  /// Points.
  std::size_t size() const { return codes_.size(); }
  bool empty() const { return codes_.empty(); }
  /// The name of the class of a point.
  const std::string& operator[](std::size_t point) const {
    return names_[static_cast<std::size_t>(codes_[point])];
  }
  /// One for each point: its place in names().
  const std::vector<Code>& codes() const { return codes_; }
  /// All different; of a list in the order in which they were first met.
  const std::vector<std::string>& names() const { return names_; }
  /// How many points each name has.
  std::vector<Index> counts() const;
  /// A name for each point.
  std::vector<std::string> words() const;
  /// What all of it takes of memory.
  Index bytes() const;

  /// The same classes point by point, however they are numbered.
  friend bool operator==(const Labels& a, const Labels& b);

 private:
  Code code_of(std::string_view name);

  std::vector<Code> codes_;
  std::vector<std::string> names_;
  std::vector<Code> places_;  // a hash table of codes, -1 where none is; a power of two, half empty
};

}  // namespace fwsr
