#pragma once

/// Identification: the parameters of a world from motions that were recorded.
///
///   const IdentifyResult found = identify(world, {"cube.mass", "cube.box.friction", "cube.inertial"}, recordings);
///
/// minimise Σ ½ |(x_k(x_0, θ) ⊖ y_k) / noise|² + ½ |(z - z_0) / prior|²      over θ(z) and the start x_0 of each piece
///
/// by Gauss-Newton (Levenberg-Marquardt) on the exact derivatives of the steps: with S_k = dx_k / d(x_0, z),
///
///   S_{k+1} = A_k S_k + [0, ∂f/∂θ dθ/dz].
///
/// Starts are eliminated piece by piece (QR). Short pieces first: a start that is free every few samples keeps wrong
/// parameters from bending the motion far away; whole motions last, which tell most. The singular values of what is
/// left say which combinations of parameters the motions tell, and which they do not.

#include <string>
#include <string_view>
#include <vector>

#include "tangere/sim/world.hpp"
#include "tangere/trajopt/dynamics.hpp"

namespace tangere {

/// A motion: states (nx x samples) and the controls between them (nu x samples - 1; zero if empty). States that are not
/// measured are left to `IdentifyOptions::noise`, but their entries must be finite.
struct MotionRecording {
  MatrixX x;
  MatrixX u = {};
};

struct IdentifyOptions {
  /// Standard deviation of a measured state's tangent coordinates: one for all, or 2 nv; infinite if not measured.
  VectorX noise = VectorX::Constant(1, 1e-3);
  /// Standard deviation of what is known before, relative for what is positive: one for all, or one per number; empty
  /// for nothing.
  VectorX prior = {};
  /// Steps of the world between two samples.
  int steps_per_sample = 1;
  /// Samples in a piece, one search after the other; 0: whole motions. A search that ends with a tenth more misfit
  /// than the one before is not taken: motions that bounce are soon beyond any derivative.
  std::vector<int> pieces = {10, 20, 40, 80, 0};
  ContactPhase contact = {};
  int max_iterations = 30;
  /// A search ends where an iteration gains less than this part of the cost (which is half the number of measured
  /// numbers where the model fits).
  double tolerance = 1e-4;
  /// A combination whose standard deviation is above this is not identified.
  double most_uncertain = 1.0;
  /// 0: as many as the machine has. The answer is the same for any number.
  int num_threads = 1;

  /// Throws InputError naming the first field out of range.
  void verify() const;
};

enum class IdentifyStatus {
  solved,
  /// The iterations are used up.
  stalled,
  /// The motion of no start is finite.
  not_finite,
};
[[nodiscard]] std::string_view to_string(IdentifyStatus status);

/// A direction in the numbers z: parts of unit length, and how much its size is uncertain (infinite: nothing is told).
struct IdentifiedCombination {
  VectorX direction;
  double deviation = 0.0;
  /// `0.71 cube.mass - 0.71 cube.box.friction`.
  std::string text;
};

struct IdentifyResult {
  IdentifyStatus status = IdentifyStatus::stalled;
  /// Parameters as they were named, with those of a body apart; values and standard deviations.
  std::vector<std::string> names{};
  VectorX values{};
  VectorX deviations{};
  /// The world with these values.
  World world;
  /// Singular values of the weighted motions in the numbers, largest first; how the numbers are called.
  std::vector<std::string> numbers{};
  VectorX singular_values{};
  std::vector<IdentifiedCombination> not_identified{};
  /// Root of the mean squared residual, in units of the noise: 1 where the model fits.
  double misfit = 0.0;
  double cost = 0.0;
  int iterations = 0;
  double seconds = 0.0;
};

/// Parameters are named as in sim/step_parameters.hpp; `a = b` ties several to one value, `<body>.density` scales mass
/// and inertia of a body together, `<body>.inertial` stands for its mass, centre and inertia, kept physically possible.
/// They start at the world's values. InputError for names
/// and sizes that do not fit, and numbers that are not finite.
[[nodiscard]] IdentifyResult identify(const World& world, const std::vector<std::string>& parameters,
                                      const std::vector<MotionRecording>& recordings,
                                      const IdentifyOptions& options = {});

}  // namespace tangere
