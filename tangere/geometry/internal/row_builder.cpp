#include <algorithm>
#include <tuple>

#include "tangere/geometry/internal/rows.hpp"

namespace tangere::internal {

RowBuilder::RowBuilder(int num_aux, int num_orthant, int num_cones)
    : num_aux_(num_aux),
      num_orthant_(num_orthant),
      num_cones_(num_cones),
      S_(MatrixX::Zero(num_orthant + 4 * num_cones, kAux + num_aux + 1)) {}

void RowBuilder::derivative(int parameter, int row, int column, double value) {
  if (value != 0.0) derivatives_.push_back({parameter, row, column, value});
}

void RowBuilder::ball_around_aux(int index, int dimension, double radius, int parameter) {
  const int row = cone(index);
  S_(row, kAlpha) = radius;
  derivative(parameter, row, kAlpha, 1.0);
  for (int k = 0; k < 3; ++k) S_(row + 1 + k, k) = 1.0;
  for (int k = 0; k < dimension; ++k) S_(row + 1 + k, kAux + k) = -1.0;
}

ConvexSet RowBuilder::build(int num_parameters) const {
  // one entry for each place: sort, then add up what falls together
  std::vector<RowDerivative> sorted = derivatives_;
  const auto place = [](const RowDerivative& d) { return std::tuple(d.parameter, d.row, d.column); };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const RowDerivative& a, const RowDerivative& b) { return place(a) < place(b); });
  ConvexSet set;
  for (const RowDerivative& d : sorted) {
    if (!set.derivatives.empty() && place(set.derivatives.back()) == place(d))
      set.derivatives.back().value += d.value;
    else
      set.derivatives.push_back(d);
  }
  set.rows = ConicRows(num_aux_, num_orthant_, num_cones_, S_);
  set.num_parameters = num_parameters;
  set.aux_start = MatrixX4::Zero(num_aux_, 4);
  return set;
}

}  // namespace tangere::internal
