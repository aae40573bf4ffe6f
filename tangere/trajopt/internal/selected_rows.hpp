#pragma once

/// Some values of another function, shifted and turned: sign (value - offset).

#include <memory>
#include <vector>

#include "tangere/trajopt/knot.hpp"

namespace tangere::internal {

struct SelectedRow {
  int index = 0;
  double sign = 1.0;
  double offset = 0.0;
  std::string name{};
};

class SelectedRows final : public KnotFunction {
 public:
  SelectedRows(std::shared_ptr<const KnotFunction> function, std::vector<SelectedRow> rows)
      : function_(std::move(function)), rows_(std::move(rows)) {}
  [[nodiscard]] int size() const override { return static_cast<int>(rows_.size()); }
  void evaluate(const Knot& knot, Eigen::Ref<VectorX> value, KnotJacobians* J) const override;
  [[nodiscard]] std::string row_name(int i) const override { return rows_[i].name; }
  void verify(const Dynamics& dynamics) const override;

 private:
  std::shared_ptr<const KnotFunction> function_;
  std::vector<SelectedRow> rows_;
};

}  // namespace tangere::internal
