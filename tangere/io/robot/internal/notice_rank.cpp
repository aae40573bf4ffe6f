#include "tangere/io/robot/internal/notice_rank.hpp"

#include <algorithm>
#include <iterator>

namespace tangere::internal {
namespace {

/// Elements and attributes of MJCF and URDF that other engines let bodies move by.
constexpr std::string_view kMotion[] = {"actuator",     "adhesion",     "armature",     "armatureinertia",
                                        "attach",       "axis",         "biasprm",      "biastype",
                                        "calibration",  "composite",    "connect",      "cylinder",
                                        "damper",       "damping",      "deformable",   "density",
                                        "dynprm",       "dyntype",      "equality",     "fixed",
                                        "flex",         "flexcomp",     "fluidcoef",    "fluidshape",
                                        "frictionloss", "fromto",       "gainprm",      "gaintype",
                                        "gravcomp",     "inertia",      "inheritrange", "intvelocity",
                                        "joint",        "lower",        "mass",         "mimic",
                                        "muscle",       "plugin",       "polycoef",     "pos",
                                        "quat",         "range",        "replicate",    "shellinertia",
                                        "spatial",      "springdamper", "springlength", "stiffness",
                                        "tendon",       "torquescale",  "upper",        "viscosity",
                                        "weld",         "wind",         "actdim",       "actlimited",
                                        "actrange",     "kinematic",    "flag"};
/// Notices about what touches what, and how.
constexpr std::string_view kCollision[] = {
    "condim", "collision", "contact",  "friction",   "gap",      "hfield",        "margin", "mesh",
    "mu1",    "mu2",       "o_margin", "o_friction", "o_solimp", "o_solref",      "pair",   "priority",
    "solimp", "solref",    "solmix",   "kp",         "kd",       "solreffriction"};
constexpr std::string_view kLook[] = {"camera", "light", "material",  "rgba",     "skin",     "texture",
                                      "visual", "layer", "texrepeat", "emission", "specular", "shininess"};

template <std::size_t N>
bool has(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

NoticeRank rank_of_unused(std::string_view element, std::string_view attribute) {
  // whatever a camera or the like has is to be looked at
  if (has(kLook, element)) return NoticeRank::look;
  const std::string_view name = attribute.empty() ? element : attribute;
  if (has(kMotion, name)) return NoticeRank::motion;
  if (has(kCollision, name)) return NoticeRank::collision;
  return has(kLook, name) ? NoticeRank::look : NoticeRank::unused;
}

}  // namespace tangere::internal
