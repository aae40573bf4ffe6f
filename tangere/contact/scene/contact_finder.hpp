#pragma once

/// The contacts between the shapes of a scene.

#include <vector>

#include "tangere/contact/contact.hpp"
#include "tangere/contact/options.hpp"
#include "tangere/contact/scene/collision_scene.hpp"
#include "tangere/multibody/way_columns.hpp"
#include "tangere/proximity/broad_phase.hpp"

namespace tangere {

/// Finds contacts, step after step. One per thread.
class ContactFinder {
 public:
  ContactFinder(const Model& model, const CollisionScene& scene);

  /// The poses at which contacts are looked for, and how far.
  struct Inputs {
    const Model& model;
    const CollisionScene& scene;
    const Data& data;
    const BodyVelocities& velocities;
    /// Velocities at the end of the step if nothing pushed; null if they are not known.
    const BodyVelocities* expected = nullptr;
    double time_step;
    /// HardContact::margin.
    double margin;
    const ContactOptions& options;
  };
  /// All points within the margin or within what a step may close at these velocities, in the order of shapes and
  /// features. With `motions`, how each moves.
  void find(const Inputs& in, std::vector<Contact>& contacts, std::vector<FrameMotion>* motions);

 private:
  BroadPhase broad_phase_;
  ManifoldWorkspace manifolds_;
  std::vector<Pose> poses_;
  std::vector<double> speeds_;
  bool placed_ = false;
};

}  // namespace tangere
