#include "tangere/trajopt/knot.hpp"

#include "tangere/math/error.hpp"
#include "tangere/multibody/kinematics.hpp"

namespace tangere {

KnotMemory::KnotMemory(const Dynamics& dynamics, Stepper* stepper, int thread) : stepper_(stepper), thread_(thread) {
  if (dynamics.model() != nullptr) data_ = std::make_unique<Data>(*dynamics.model());
}

KnotMemory& KnotMemory::second(const Dynamics& dynamics) {
  if (second_ == nullptr) second_ = std::make_unique<KnotMemory>(dynamics);
  return *second_;
}

Data& KnotMemory::kinematics(const Dynamics& dynamics, const VectorX& x) {
  if (data_ == nullptr) throw InputError("dynamics", "have no model whose kinematics could be made");
  if (!fresh_) forward_kinematics(*dynamics.model(), *data_, x.head(dynamics.model()->nq()));
  fresh_ = true;
  return *data_;
}

}  // namespace tangere
