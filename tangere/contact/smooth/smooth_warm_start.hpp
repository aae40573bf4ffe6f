#pragma once

/// The contact of a smooth step, pair by pair: what the next one starts from, and what derivatives are taken at.

#include <compare>
#include <cstddef>
#include <vector>

#include "tangere/contact/formulation.hpp"
#include "tangere/math/types.hpp"

namespace tangere {

/// The name of a pair from one step to the next: shapes of the scene, their parts, and the number of the contact point.
struct PairKey {
  int shape_A = 0;
  int part_A = 0;
  int shape_B = 0;
  int part_B = 0;
  int point = 0;

  // clang-tidy takes what the compiler compares the order with for a pointer
  auto operator<=>(const PairKey&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// The start of a solve: the contact of the last one.
struct SmoothWarmStart {
  struct Entry {
    PairKey key;
    /// World; and from the pair's origin in its units, for derivatives at the very same numbers.
    Vector3 x = Vector3::Zero();
    Vector3 x_in_units = Vector3::Zero();
    double alpha = 1.0;
    Vector3 n = Vector3::UnitZ();
    Eigen::Matrix<double, 3, 2, Eigen::DontAlign> T = Eigen::Matrix<double, 3, 2, Eigen::DontAlign>::Zero();
    std::size_t first_row = 0;
    std::size_t num_rows = 0;
    std::size_t first_y = 0;
    std::size_t num_y = 0;
  };
  /// The formulation that made it; lcp if no smooth step did.
  Formulation formulation = Formulation::lcp;
  /// Sorted by key.
  std::vector<Entry> entries;
  std::vector<double> z;
  std::vector<double> s;
  std::vector<double> y;
  std::vector<double> joint_z;
  std::vector<double> joint_s;
  /// Impulses of loops and mimics.
  std::vector<double> lambda;
  /// V and W of free bodies over the step. No start for another one.
  std::vector<double> motions;
  /// By island, if anything may bounce: what it keeps of its restitution (ReboundLimit). No start for another step.
  struct Limit {
    double x = 0.0;
    bool held = false;
  };
  std::vector<Limit> limits;

  void clear();
  /// Null if there was no such pair.
  [[nodiscard]] const Entry* find(const PairKey& key) const;
};

}  // namespace tangere
