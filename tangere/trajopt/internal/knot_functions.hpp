#pragma once

/// The functions behind the costs and constraints of the library.

#include <vector>

#include "tangere/trajopt/costs.hpp"

namespace tangere::internal {

/// x ⊖ target: some of its tangent coordinates, against one target or one per knot.
class StateDifference final : public KnotFunction {
 public:
  StateDifference(MatrixX targets, std::vector<int> coordinates)
      : targets_(std::move(targets)), coordinates_(std::move(coordinates)) {}
  [[nodiscard]] int size() const override { return static_cast<int>(coordinates_.size()); }
  void evaluate(const Knot& knot, Eigen::Ref<VectorX> value, KnotJacobians* J) const override;
  [[nodiscard]] bool is_linear(const Dynamics& dynamics) const override { return dynamics.is_flat(); }
  [[nodiscard]] bool is_of_state() const override { return true; }
  void verify(const Dynamics& dynamics) const override;

 private:
  MatrixX targets_;
  std::vector<int> coordinates_;
};

/// u - target.
class ControlDifference final : public KnotFunction {
 public:
  explicit ControlDifference(VectorX target) : target_(std::move(target)) {}
  [[nodiscard]] int size() const override { return static_cast<int>(target_.size()); }
  void evaluate(const Knot& knot, Eigen::Ref<VectorX> value, KnotJacobians* J) const override;
  [[nodiscard]] bool is_linear(const Dynamics& /*dynamics*/) const override { return true; }
  void verify(const Dynamics& dynamics) const override;

 private:
  VectorX target_;
};

/// One side of a bound on a coordinate: sign (coordinate - limit) ≤ 0.
struct Side {
  int coordinate = 0;
  double sign = 1.0;
  double limit = 0.0;
  std::string name;
};

class ControlSides final : public KnotFunction {
 public:
  explicit ControlSides(std::vector<Side> sides) : sides_(std::move(sides)) {}
  [[nodiscard]] int size() const override { return static_cast<int>(sides_.size()); }
  void evaluate(const Knot& knot, Eigen::Ref<VectorX> value, KnotJacobians* J) const override;
  [[nodiscard]] std::string row_name(int i) const override { return sides_[i].name; }
  [[nodiscard]] bool is_linear(const Dynamics& /*dynamics*/) const override { return true; }
  [[nodiscard]] bool is_of_controls() const override { return true; }
  void verify(const Dynamics& dynamics) const override;

 private:
  std::vector<Side> sides_;
};

/// `index` is where the coordinate is in x.
class StateSides final : public KnotFunction {
 public:
  StateSides(std::vector<Side> sides, std::vector<int> index) : sides_(std::move(sides)), index_(std::move(index)) {}
  [[nodiscard]] int size() const override { return static_cast<int>(sides_.size()); }
  void evaluate(const Knot& knot, Eigen::Ref<VectorX> value, KnotJacobians* J) const override;
  [[nodiscard]] std::string row_name(int i) const override { return sides_[i].name; }
  [[nodiscard]] bool is_linear(const Dynamics& /*dynamics*/) const override { return true; }
  [[nodiscard]] bool is_of_state() const override { return true; }
  void verify(const Dynamics& dynamics) const override;

 private:
  std::vector<Side> sides_;
  std::vector<int> index_;
};

/// [R_WTᵀ (p - p_T); log(R_WTᵀ R)] of a frame of a body; the first three rows with `position_only`.
class FrameDifference final : public KnotFunction {
 public:
  FrameDifference(int body, const Pose& X_BF, const Pose& target, bool position_only)
      : body_(body), X_BF_(X_BF), target_(target), position_only_(position_only) {}
  [[nodiscard]] int size() const override { return position_only_ ? 3 : 6; }
  void evaluate(const Knot& knot, Eigen::Ref<VectorX> value, KnotJacobians* J) const override;
  [[nodiscard]] bool is_of_state() const override { return true; }
  void verify(const Dynamics& dynamics) const override;

 private:
  int body_;
  Pose X_BF_;
  Pose target_;
  bool position_only_;
};

class CenterOfMassDifference final : public KnotFunction {
 public:
  explicit CenterOfMassDifference(const Vector3& target) : target_(target) {}
  [[nodiscard]] int size() const override { return 3; }
  void evaluate(const Knot& knot, Eigen::Ref<VectorX> value, KnotJacobians* J) const override;
  [[nodiscard]] bool is_of_state() const override { return true; }
  void verify(const Dynamics& dynamics) const override;

 private:
  Vector3 target_;
};

/// A function of the user's own.
class OwnVector final : public KnotFunction {
 public:
  OwnVector(int size, KnotVector f) : size_(size), f_(std::move(f)) {}
  [[nodiscard]] int size() const override { return size_; }
  void evaluate(const Knot& knot, Eigen::Ref<VectorX> value, KnotJacobians* J) const override { f_(knot, value, J); }
  void verify(const Dynamics& dynamics) const override;

 private:
  int size_;
  KnotVector f_;
};

}  // namespace tangere::internal
