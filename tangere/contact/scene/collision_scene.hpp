#pragma once

/// All shapes of a model that may collide, and the contacts between them.

#include <span>
#include <vector>

#include "tangere/contact/contact.hpp"
#include "tangere/contact/options.hpp"
#include "tangere/multibody/way_columns.hpp"
#include "tangere/proximity/broad_phase.hpp"

namespace tangere {

/// A shape of a body, by its index there.
struct SceneShape {
  int body = 0;
  int index = 0;
  /// Around the body's origin; infinite for half-spaces.
  double reach = 0.0;
};

/// Constant once made: which shapes there are. Throws InputError for bodies that move and have a half-space.
class CollisionScene {
 public:
  explicit CollisionScene(const Model& model);

  [[nodiscard]] std::span<const SceneShape> shapes() const { return shapes_; }
  [[nodiscard]] const CollisionShape& shape(const Model& model, int i) const {
    const SceneShape& at = shapes_[i];
    return model.body(at.body).spec.shapes[at.index];
  }

 private:
  std::vector<SceneShape> shapes_;
};

/// Finds contacts, step after step. One per thread.
class ContactFinder {
 public:
  ContactFinder(const Model& model, const CollisionScene& scene);

  /// At the poses in `data`, moving with `velocities`: all points within the margin or within what a step of
  /// `time_step` may close, in the order of shapes and features. With `motions`, how each moves. With `expected`, the
  /// velocities that forces alone would bring about by the end of the step, it looks as far as these go too.
  void find(const Model& model, const CollisionScene& scene, const Data& data, const BodyVelocities& velocities,
            double time_step, const ContactOptions& options, std::vector<Contact>& contacts,
            std::vector<FrameMotion>* motions, const BodyVelocities* expected = nullptr);

 private:
  BroadPhase broad_phase_;
  ManifoldWorkspace manifolds_;
  std::vector<Pose> poses_;
  std::vector<double> speeds_;
  bool placed_ = false;
};

}  // namespace tangere
