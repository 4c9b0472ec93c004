#include "fuzz.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace fwsr::fuzz {

void require(bool kept, const char* promise) {
  if (kept) return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

FileBytes file_of(std::span<const std::uint8_t> bytes) {
  const auto raw = std::as_bytes(bytes);
  return FileBytes::from_memory("fuzz", {raw.begin(), raw.end()});
}

namespace {

/// Touches every number, so that the sanitizers see a view that reaches too far.
template <class T>
void touch(const T* numbers, Index count) {
  [[maybe_unused]] volatile T last{};
  for (Index i = 0; i < count; ++i) last = numbers[i];
}

template <class T>
void check_view(const MatrixView<const T>& m) {
  require(m.stride >= m.cols, "rows do not overlap");
  for (Index i = 0; i < m.rows; ++i) touch(m.row(i).data(), m.cols);
}

void check_view(const NarrowView& m) {
  require(m.stride >= m.cols, "rows do not overlap");
  for (Index i = 0; i < m.rows; ++i) touch(m.address(i), m.cols * bytes_of(m.number));
}

template <class T, class I>
void check_view(const CsrView<T, I>& m) {
  require(m.starts[0] == 0, "starts begin at 0");
  for (Index i = 0; i < m.rows; ++i) {
    require(m.starts[i] <= m.starts[i + 1], "starts do not descend");
    for (I e = m.starts[i]; e < m.starts[i + 1]; ++e) {
      require(m.columns[e] >= 0 && m.columns[e] < m.cols, "columns are inside the matrix");
      require(e == m.starts[i] || m.columns[e - 1] < m.columns[e], "columns ascend");
    }
  }
  touch(m.values, static_cast<Index>(m.starts[m.rows]));
}

void check_storage(const PointsStorage& points) {
  const auto check_sizes = [](const auto& m) {
    require(m.rows > 0 && m.cols > 0, "there are points");
    if constexpr (requires { m.starts; }) {
      require(std::ssize(m.starts) == m.rows + 1, "there is a start per row");
      require(m.columns.size() == m.values.size(), "there is a column per value");
      require(m.starts.back() == std::ssize(m.values), "starts end at the last value");
    } else if constexpr (requires { m.numbers; }) {
      require(m.numbers != nullptr && m.keep != nullptr, "narrow numbers stand somewhere");
    } else if constexpr (requires { m.values; }) {
      require(std::ssize(m.values) == m.rows * m.cols, "there is a value per place");
    }
  };
  std::visit(check_sizes, points);
}

void check_message(const Failure& failure) {
  require(failure.message.rfind("fuzz:", 0) == 0, "a failure names the file");
  require(failure.message.size() < 2000, "a message is short");
}

template <class T>
bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

}  // namespace

void check(const Result<Dataset>& result) {
  if (!result) return check_message(result.error());
  check_storage(result->points);
  const PointsView view = result->view();
  std::visit(
      [](const auto& v) {
        if constexpr (!requires { v.source; }) check_view(v);
      },
      view);
  const auto one_per = [](std::size_t size, Index count) {
    return size == 0 || static_cast<Index>(size) == count;
  };
  require(one_per(result->labels.size(), rows_of(view)), "there is a label per point, or none");
  require(one_per(result->ids.size(), rows_of(view)), "there is an id per point, or none");
  require(one_per(result->lines.size(), rows_of(view)), "there is a line per point, or none");
  require(one_per(result->columns.size(), cols_of(view)), "there is a name per column, or none");
  for (std::size_t i = 1; i < result->lines.size(); ++i)
    require(result->lines[i - 1] < result->lines[i], "lines ascend");
}

void check(const Result<Labels>& labels) {
  if (!labels) return check_message(labels.error());
  require(!labels->empty(), "there are labels");
  for (const Labels::Code code : labels->codes())
    require(code >= 0 && code < std::ssize(labels->names()), "every label has a name");
}

void check(const Result<std::vector<std::string>>& labels) {
  if (!labels) return check_message(labels.error());
  require(!labels->empty(), "there are labels");
}

bool is_same(const Result<Dataset>& a, const Result<Dataset>& b) {
  if (!a || !b) return a.has_value() == b.has_value() && a.error().message == b.error().message;
  const auto same_values = [&](const auto& m) {
    const auto* other = std::get_if<std::remove_cvref_t<decltype(m)>>(&b->points);
    if constexpr (requires { m.starts; })
      if (!other || !same_bytes(m.starts, other->starts) || !same_bytes(m.columns, other->columns))
        return false;
    if constexpr (requires { m.numbers; })
      return other && m.number == other->number && m.rows == other->rows && m.cols == other->cols &&
             std::memcmp(m.numbers, other->numbers,
                         static_cast<std::size_t>(m.rows * m.cols * bytes_of(m.number))) == 0;
    else if constexpr (requires { m.values; })
      return other && m.rows == other->rows && m.cols == other->cols &&
             same_bytes(m.values, other->values);
    else
      return other != nullptr;
  };
  return std::visit(same_values, a->points) && a->labels == b->labels && a->ids == b->ids &&
         a->columns == b->columns && same_bytes(a->lines, b->lines) && a->notes == b->notes &&
         a->table == b->table;
}

}  // namespace fwsr::fuzz
