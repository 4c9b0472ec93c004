#include "fwsr/data/dataset.hpp"

namespace fwsr {

namespace {

template <class T>
PointsView borrow(const DenseMatrix<T>& m) {
  return m.view();
}

template <class T>
PointsView borrow(const MappedMatrix<T>& m) {
  // Readers map only numbers that stand aligned in the file, in this machine's byte order.
  const auto* data = reinterpret_cast<const T*>(m.file.bytes().data() + m.offset);
  return MatrixView<const T>{data, m.rows, m.cols};
}

template <class T>
PointsView borrow(const SparseMatrix<T>& m) {
  return m.view();
}

template <class T>
PointsView borrow(const StreamedMatrix<T>& m) {
  return StreamView<T>{m.source.get(), m.rows, m.cols};
}

PointsView borrow(const NarrowMatrix& m) {
  return NarrowView{
      .numbers = m.numbers, .number = m.number, .rows = m.rows, .cols = m.cols, .stride = m.cols};
}

}  // namespace

PointsView Dataset::view() const {
  return std::visit([](const auto& matrix) { return borrow(matrix); }, points);
}

}  // namespace fwsr
