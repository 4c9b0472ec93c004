#include "fwsr/data/csr.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"

namespace fwsr {

namespace {

template <class T>
std::string find_problem(const SparseMatrix<T>& m) {
  Index cells = 0;
  if (m.rows < 1 || m.cols < 1)
    return fmt::format("its shape {} x {} holds no points", m.rows, m.cols);
  if (__builtin_mul_overflow(m.rows, m.cols, &cells))
    return fmt::format("its shape {} x {} is too large", m.rows, m.cols);
  if (m.starts.size() != at(m.rows) + 1)
    return fmt::format("{} row starts for {} rows; there must be one more than rows",
                       m.starts.size(), m.rows);
  if (m.columns.size() != m.values.size())
    return fmt::format("{} column numbers, but {} values", m.columns.size(), m.values.size());
  if (m.starts.front() != 0)
    return fmt::format("the first row starts at entry {} and not 0", m.starts.front());
  for (Index i = 0; i < m.rows; ++i)
    if (m.starts[at(i) + 1] < m.starts[at(i)])
      return fmt::format("row {} (counted from 0) ends before it starts", i);
  if (at(m.starts.back()) != m.values.size())
    return fmt::format("the rows end at entry {}, but there are {} entries", m.starts.back(),
                       m.values.size());
  for (Index i = 0; i < m.rows; ++i)
    for (std::int64_t e = m.starts[at(i)]; e < m.starts[at(i) + 1]; ++e)
      if (m.columns[at(e)] < 0 || m.columns[at(e)] >= m.cols)
        return fmt::format(
            "row {} (counted from 0) has an entry in column {}, but there are {} "
            "columns",
            i, m.columns[at(e)], m.cols);
  return {};
}

template <class T>
bool is_ascending(const SparseMatrix<T>& m, Index row) {
  for (std::int64_t e = m.starts[at(row)] + 1; e < m.starts[at(row) + 1]; ++e)
    if (m.columns[at(e)] <= m.columns[at(e - 1)]) return false;
  return true;
}

struct Repairs {
  Index sorted_rows = 0;
  Index merged_entries = 0;
};

/// Sorts each row and adds up equal columns, moving the rows together in place.
template <class T>
Repairs repair(SparseMatrix<T>& m) {
  Repairs repairs;
  std::vector<std::pair<std::int64_t, T>> row;
  std::int64_t end = 0;  // of what has been written
  std::int64_t first = m.starts[0];
  for (Index i = 0; i < m.rows; ++i) {
    const std::int64_t last = m.starts[at(i) + 1];
    const auto by_column = [](const auto& a, const auto& b) { return a.first < b.first; };
    row.clear();
    for (std::int64_t e = first; e < last; ++e) row.push_back({m.columns[at(e)], m.values[at(e)]});
    if (!std::is_sorted(row.begin(), row.end(), by_column)) {
      std::stable_sort(row.begin(), row.end(), by_column);
      ++repairs.sorted_rows;
    }
    const std::int64_t row_start = end;
    for (const auto& [column, value] : row) {
      if (end > row_start && m.columns[at(end - 1)] == column) {
        m.values[at(end - 1)] += value;
        ++repairs.merged_entries;
      } else {
        m.columns[at(end)] = column;
        m.values[at(end)] = value;
        ++end;
      }
    }
    first = last;
    m.starts[at(i) + 1] = end;
  }
  m.columns.resize(at(end));
  m.values.resize(at(end));
  return repairs;
}

}  // namespace

template <class T>
Result<SparseMatrix<T>> make_csr(const std::string& name, SparseMatrix<T> m,
                                 std::vector<std::string>& notes) {
  const std::string problem = find_problem(m);
  if (!problem.empty())
    return Failure{
        fmt::format("{}: the sparse matrix is broken: {}; save it again", name, problem)};
  Index row = 0;
  while (row < m.rows && is_ascending(m, row)) ++row;
  if (row == m.rows) return m;
  const Repairs repairs = repair(m);
  if (repairs.sorted_rows > 0)
    notes.push_back(fmt::format("{} sparse row{} put in ascending order of columns",
                                repairs.sorted_rows, repairs.sorted_rows == 1 ? "" : "s"));
  if (repairs.merged_entries > 0)
    notes.push_back(fmt::format("{} duplicate sparse entr{} added up", repairs.merged_entries,
                                repairs.merged_entries == 1 ? "y" : "ies"));
  return m;
}

template <class T>
SparseMatrix<T> transpose(const SparseMatrix<T>& m) {
  SparseMatrix<T> t{m.cols, m.rows, std::vector<std::int64_t>(at(m.cols) + 1),
                    std::vector<std::int64_t>(m.columns.size()), std::vector<T>(m.values.size())};
  for (const std::int64_t c : m.columns) ++t.starts[at(c) + 1];
  std::partial_sum(t.starts.begin(), t.starts.end(), t.starts.begin());
  std::vector<std::int64_t> next = t.starts;
  for (Index i = 0; i < m.rows; ++i)
    for (std::int64_t e = m.starts[at(i)]; e < m.starts[at(i) + 1]; ++e) {
      const std::size_t place = at(next[at(m.columns[at(e)])]++);
      t.columns[place] = i;
      t.values[place] = m.values[at(e)];
    }
  return t;
}

template Result<SparseMatrix<float>> make_csr(const std::string&, SparseMatrix<float>,
                                              std::vector<std::string>&);
template Result<SparseMatrix<double>> make_csr(const std::string&, SparseMatrix<double>,
                                               std::vector<std::string>&);
template SparseMatrix<float> transpose(const SparseMatrix<float>&);
template SparseMatrix<double> transpose(const SparseMatrix<double>&);

}  // namespace fwsr
