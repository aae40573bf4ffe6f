#pragma once

/// Mends values that other engines accept and no body or joint can have, in words for a notice. Private to io.

#include <functional>
#include <string>

#include "tangere/geometry/mass_properties.hpp"
#include "tangere/multibody/model.hpp"
#include "tangere/multibody/model_error.hpp"

namespace tangere::internal {

/// Mass and inertia become those of the nearest body; says what was done, nothing if they were of one.
///
///   a negative mass                        becomes 0
///   an inertia without mass                keeps a mass of kLeastMass
///   principal moments I_i that no body has become those of the nearest second moments d ≥ 0, d_i = tr(I)/2 − I_i
[[nodiscard]] std::string mend_inertia(MassProperties& body);

/// Whether mass, center or inertia of a body are wrong.
[[nodiscard]] inline bool is_about_mass(const ModelError& error) {
  return error.part() == ModelError::Part::body &&
         (error.quantity() == "mass" || error.quantity() == "center" || error.quantity() == "inertia");
}

/// Below this a mass moves nothing that anybody sees (kg).
inline constexpr double kLeastMass = 1e-9;
/// Inertia given to a joint that moves none [kg, kg m²].
inline constexpr double kMendedMass = 1e-3;
inline constexpr double kMendedInertia = 1e-6;

/// The model of a builder, where the body behind each joint that moves nothing has kMendedMass and kMendedInertia more.
/// `report` gets the index of each such joint, and the words. More than kMostMended are refused as without mending.
inline constexpr int kMostMended = 1000;
[[nodiscard]] Model build_mended(ModelBuilder& builder, const std::function<void(int, std::string)>& report);

}  // namespace tangere::internal
