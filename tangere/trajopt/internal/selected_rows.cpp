#include "tangere/trajopt/internal/selected_rows.hpp"

#include "tangere/math/error.hpp"

namespace tangere::internal {

void SelectedRows::evaluate(const Knot& knot, Eigen::Ref<VectorX> value, KnotJacobians* J) const {
  VectorX& all = knot.memory.scratch.selected;
  all.setZero(function_->size());
  if (J == nullptr) {
    function_->evaluate(knot, all, nullptr);
  } else {
    RowMatrixX& d_all = knot.memory.scratch.d_selected;
    const Eigen::Index ndx = J->x.cols();
    d_all.setZero(function_->size(), ndx + J->u.cols());
    KnotJacobians inner{d_all.leftCols(ndx), d_all.rightCols(J->u.cols())};
    function_->evaluate(knot, all, &inner);
    for (int i = 0; i < size(); ++i) {
      J->x.row(i) = rows_[i].sign * inner.x.row(rows_[i].index);
      J->u.row(i) = rows_[i].sign * inner.u.row(rows_[i].index);
    }
  }
  for (int i = 0; i < size(); ++i) value[i] = rows_[i].sign * (all[rows_[i].index] - rows_[i].offset);
}

void SelectedRows::verify(const Dynamics& dynamics) const {
  function_->verify(dynamics);
  if (rows_.empty()) throw InputError("mask", "must leave at least one row");
  for (const SelectedRow& row : rows_)
    if (row.index < 0 || row.index >= function_->size()) throw InputError("mask", "is of rows that do not exist");
}

}  // namespace tangere::internal
