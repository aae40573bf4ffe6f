#include "tangere/contact/row_scales.hpp"

#include "tangere/multibody/configuration.hpp"
#include "tangere/multibody/kinematics.hpp"
#include "tangere/multibody/mass_matrix.hpp"

namespace tangere {

RowScales::RowScales(const Model& model) {
  Data data(model);
  (void)mass_matrix(model, data, neutral_configuration(model));
  factor_mass_matrix(model, data);
  const MatrixX inverse = inverse_mass_matrix(model, data);
  for (int k = 0; k < model.nv(); ++k) coordinate_.push_back(inverse(k, k));
  Matrix6X J;
  for (int b = 0; b < model.num_bodies(); ++b) {
    body_jacobian(model, data, b, J);
    const MatrixX mobility = J * inverse * J.transpose();
    linear_.push_back(mobility.topLeftCorner(3, 3).trace() / 3.0);
    angular_.push_back(mobility.bottomRightCorner(3, 3).trace() / 3.0);
  }
}

}  // namespace tangere
