/// Which gradient? The derivatives that this engine offers beside the function they are of, sampled.
///
/// One: a box of 1 kg rests on the floor and is pulled upwards for 0.1 s by a constant force; how high is it then?
/// Below its weight it does not move, so the exact gradient knows of nothing.
///
/// Two: an arm leans on a block that lies on the floor. How fast does the shoulder turn after a step, if its angle is
/// changed? The slope of that over a width h is what a gradient averaged over noise of that size gives; it changes with
/// h, and the exact gradient is its value at h → 0.

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "apps/cli/progress.hpp"
#include "apps/cli/text.hpp"
#include "experiments/chart.hpp"
#include "experiments/experiment.hpp"
#include "experiments/smooth_worlds.hpp"
#include "tangere/geometry/mass_properties.hpp"
#include "tangere/multibody/configuration.hpp"
#include "tangere/sim/rollout.hpp"
#include "tangere/sim/step_diagnosis.hpp"

namespace tangere::experiments {
namespace {

constexpr double kRelaxations[] = {1e-1, 1e-2, 1e-3, 1e-4};
/// Of a randomised gradient.
constexpr int kSamples = 200;

/// The same motion as ever, derivatives at another relaxation.
WorldOptions smooth_gradients(double time_step, double kappa) {
  WorldOptions options{.time_step = time_step, .formulation = Formulation::single_level};
  options.smooth.gradient_kappa = kappa;
  return options;
}

// A box is pulled upwards
// ---------------------------------------------------------------------------------------------------------------------

/// Height and its derivative by the force.
struct Lift {
  double height = 0.0;
  double gradient = 0.0;
};

class LiftedBox {
 public:
  explicit LiftedBox(const WorldOptions& options)
      : setup_(
            free_setup({{.shape = kBox, .X_WB = Pose::translation({0.0, 0.0, 0.1}), .inertia = inertia_of(kBox, 1.0)}},
                       true, 0.5, options)) {
    // smooth contact holds it a little higher
    Workspace workspace(setup_.world);
    const VectorX u = VectorX::Zero(setup_.world.nu());
    for (int i = 0; i < 100; ++i) (void)step(setup_.world, setup_.state, u, workspace, setup_.state);
    setup_.state.v.setZero();
  }

  [[nodiscard]] Lift operator()(double force, GradientMode mode = GradientMode::exact) const {
    MatrixX controls = MatrixX::Zero(setup_.world.nu(), kSteps);
    controls.row(2).setConstant(force);
    Rollout rollout(setup_.world, {.gradient_mode = mode});
    rollout.run(setup_.state, controls);
    std::vector<StateTangent> gradients(kSteps + 1);
    // one that wants to be higher: what a descent on -height would see
    gradients.back().q = -VectorX::Unit(setup_.world.nv(), 2);
    StateTangent g;
    MatrixX g_controls;
    (void)rollout.reverse(gradients, g, g_controls);
    return {rollout.states().back().q[2] - setup_.state.q[2], -g_controls.row(2).sum()};
  }

 private:
  static constexpr int kSteps = 10;
  inline static const Shape kBox = Box{.size = {0.2, 0.2, 0.2}};

  Setup setup_;
};

struct LiftPictures {
  Chart heights{"A box of 9.81 N is pulled upwards for 0.1 s: how high is it?", {"force, N"}, {"m"}};
  Chart gradients{"… and the derivative of that", {"force, N"}, {"m/N"}};
  /// The exact gradient against differences where it is not at the kink, the largest error; and what it, the aware and
  /// the smoothest one say at half the weight.
  double exact_error = 0.0;
  double exact = 0.0;
  double aware = 0.0;
  double smooth = 0.0;
};

LiftPictures lift_pictures() {
  constexpr double kTimeStep = 0.01;
  constexpr double kWeight = 9.81;
  constexpr double kNoise = 2.0;
  constexpr double kSmall = 1e-3;
  LiftPictures out;
  const LiftedBox hard({.time_step = kTimeStep});
  ChartLine height{"true", {}, {}};
  ChartLine averaged_height{"averaged, 2 N", {}, {}};
  ChartLine exact{"exact", {}, {}};
  ChartLine aware{"aware", {}, {}};
  ChartLine randomised{"randomised, 2 N", {}, {}};
  std::vector<double> forces;
  for (int i = 0; i <= 80; ++i) forces.push_back(0.25 * i);
  cli::Progress progress("lifting", static_cast<int>(forces.size()));
  int done = 0;
  for (const double force : forces) {
    progress.show(done++);
    const Lift at = hard(force);
    const double difference = (hard(force + kSmall).height - hard(force - kSmall).height) / (2.0 * kSmall);
    if (std::abs(force - kWeight) > 2.0 * kSmall)
      out.exact_error = std::max(out.exact_error, std::abs(at.gradient - difference));
    // the same noise everywhere, in pairs: smooth in the force
    Random random(3);
    Lift mean;
    for (int k = 0; k < kSamples / 2; ++k) {
      const double noise = kNoise * random.normal();
      for (const double side : {noise, -noise}) {
        const Lift sample = hard(force + side);
        mean.height += sample.height / kSamples;
        mean.gradient += sample.gradient / kSamples;
      }
    }
    for (auto& [line, value] : {std::pair<ChartLine*, double>{&height, at.height},
                                {&averaged_height, mean.height},
                                {&exact, at.gradient},
                                {&aware, hard(force, GradientMode::complementarity_aware).gradient},
                                {&randomised, mean.gradient}}) {
      line->x.push_back(force);
      line->y.push_back(value);
    }
  }
  progress.clear();
  const std::size_t half = 20;  // 5 N
  out.exact = exact.y[half];
  out.aware = aware.y[half];
  out.heights.lines = {height, averaged_height};
  out.gradients.lines = {exact, aware, randomised};
  for (const double kappa : kRelaxations) {
    const LiftedBox smooth(smooth_gradients(kTimeStep, kappa));
    ChartLine line{cli::formatted("smooth, κ %.0e", kappa), forces, {}};
    for (const double force : forces) line.y.push_back(smooth(force).gradient);
    if (kappa == kRelaxations[0]) out.smooth = line.y[half];
    out.gradients.lines.push_back(line);
  }
  return out;
}

// An arm leans on a block
// ---------------------------------------------------------------------------------------------------------------------

BodySpec rod(const std::string& name) {
  constexpr double kLength = 0.4;
  const Shape shape = Capsule{.radius = 0.03, .length = kLength};
  BodySpec body{.name = name, .inertia = inertia_of(shape, 1.0)};
  body.inertia.center = {0.5 * kLength, 0.0, 0.0};
  body.shapes = {{.name = name, .shape = shape, .X_BS = Pose::translation(body.inertia.center), .friction = 0.6}};
  return body;
}

Setup leaning_arm(const WorldOptions& options) {
  ModelBuilder builder("leaning arm");
  builder.add_body(
      {.name = "floor", .shapes = {{.name = "floor", .shape = HalfSpace{Vector3::UnitZ(), 0.0}, .friction = 0.6}}},
      {.name = "floor"});
  const Shape block = Box{.size = {0.4, 0.3, 0.2}};
  builder.add_body({.name = "block",
                    .inertia = inertia_of(block, 2.0),
                    .shapes = {{.name = "block", .shape = block, .friction = 0.6}}},
                   {.name = "block", .type = JointType::free});
  const auto hinge = [](const std::string& name, const Vector3& at) {
    return JointSpec{.name = name,
                     .type = JointType::revolute,
                     .X_PJ = Pose::translation(at),
                     .axis = Vector3::UnitY(),
                     .dofs = {{.damping = 0.5}}};
  };
  builder.add_body(rod("upper"), hinge("shoulder", {0.0, 0.0, 0.5}));
  builder.add_body(rod("lower"), hinge("elbow", {0.4, 0.0, 0.0}), "upper");
  Setup out{World(builder.build(), {}, options), {}};
  const Model& model = out.world.model();
  out.state = {neutral_configuration(model), VectorX::Zero(model.nv())};
  out.state.q.head<3>() = Vector3(0.65, 0.02, 0.1);
  const int shoulder = model.joint(model.joint_index("shoulder")).first_q;
  out.state.q.segment<2>(shoulder) = Vector2(0.35, 0.1);
  Workspace workspace(out.world);
  const VectorX u = VectorX::Zero(out.world.nu());
  for (int i = 0; i < 3000; ++i) (void)step(out.world, out.state, u, workspace, out.state);
  return out;
}

/// One step of the leaning arm: the shoulder's new velocity over its angle.
class ArmStep {
 public:
  /// At rest by its own options: smooth contact holds it a little higher.
  explicit ArmStep(const WorldOptions& options)
      : setup_(leaning_arm(options)), state_(setup_.state), workspace_(setup_.world) {
    const Model& model = setup_.world.model();
    dof_ = model.joint(model.joint_index("shoulder")).first_v;
    u_ = VectorX::Zero(setup_.world.nu());
  }

  [[nodiscard]] double value(double turn) {
    VectorX delta = VectorX::Zero(setup_.world.nv());
    delta[dof_] = turn;
    State from = state_;
    integrate(setup_.world.model(), state_.q, delta, from.q);
    workspace_.forget();
    State next;
    (void)step(setup_.world, from, u_, workspace_, next, &tape_);
    return next.v[dof_];
  }
  /// After a value: how it changes with the angle.
  [[nodiscard]] double gradient(GradientMode mode = GradientMode::exact) {
    const StateTangent g{VectorX::Zero(setup_.world.nv()), VectorX::Unit(setup_.world.nv(), dof_)};
    StateTangent g_state;
    VectorX g_u;
    (void)step_vjp(setup_.world, tape_, workspace_, g, g_state, g_u, mode);
    return g_state.q[dof_];
  }
  [[nodiscard]] double reach() { return diagnose_step(setup_.world, tape_, workspace_).reach_q[dof_]; }

 private:
  Setup setup_;
  State state_;
  Workspace workspace_;
  Tape tape_;
  VectorX u_;
  int dof_ = 0;
};

struct ArmPicture {
  Chart slopes{"An arm leans on a block: slope of its next velocity over its angle", {"width h, rad", true}, {"1/s"}};
  double reach = 0.0;
  double exact = 0.0;
  /// The slope over a tenth of the reach; the largest and smallest over wider ones.
  double inside = 0.0;
  double smallest = 0.0;
  double largest = 0.0;
  std::vector<std::pair<std::string, double>> lines;
};

ArmPicture arm_picture() {
  constexpr double kTimeStep = 1e-3;
  ArmPicture out;
  ArmStep hard({.time_step = kTimeStep});
  (void)hard.value(0.0);
  out.reach = hard.reach();
  out.exact = hard.gradient();
  const double aware = hard.gradient(GradientMode::complementarity_aware);
  const auto slope = [&](double h) { return (hard.value(h) - hard.value(-h)) / (2.0 * h); };
  out.inside = slope(0.1 * out.reach);

  ChartLine secants{"true, over h", {}, {}};
  ChartLine randomised{"randomised, h", {}, {}};
  for (int i = 0; i <= 48; ++i) {
    const double h = std::pow(10.0, -9.0 + i / 6.0);
    secants.x.push_back(h);
    secants.y.push_back(slope(h));
    // noise of this size on the angle, in pairs: by values alone
    Random random(5);
    double sum = 0.0;
    double weight = 0.0;
    for (int k = 0; k < kSamples; ++k) {
      const double noise = random.normal();
      sum += noise * (hard.value(h * noise) - hard.value(-h * noise)) / (2.0 * h);
      weight += noise * noise;
    }
    randomised.x.push_back(h);
    randomised.y.push_back(sum / weight);
  }
  out.smallest = *std::min_element(secants.y.begin(), secants.y.end());
  out.largest = *std::max_element(secants.y.begin(), secants.y.end());
  out.slopes.lines = {secants, randomised};
  out.lines = {{"exact", out.exact}, {"aware", aware}};
  for (const double kappa : kRelaxations) {
    ArmStep smooth(smooth_gradients(kTimeStep, kappa));
    (void)smooth.value(0.0);
    out.lines.emplace_back(cli::formatted("smooth, κ %.0e", kappa), smooth.gradient());
  }
  for (const auto& [name, value] : out.lines)
    out.slopes.lines.push_back({name, {secants.x.front(), secants.x.back()}, {value, value}});
  return out;
}

}  // namespace

Outcome which_gradient(const Request&) {
  constexpr double kExactTolerance = 1e-6;
  const LiftPictures lift = lift_pictures();
  const ArmPicture arm = arm_picture();
  Outcome out;
  out.text = cli::formatted(
      "  A box of 9.81 N pulled by 5 N: d(height)/d(force), m/N\n"
      "    exact %.4g (differences agree to %.1e away from the kink), complementarity-aware %.4g, smooth at %.0e "
      "%.4g\n\n"
      "  An arm leaning on a block: d(velocity of the shoulder)/d(angle), 1/s\n"
      "    reach %.1e rad; slope over a tenth of it %.6g; over 1e-9 to 1e-1 rad between %.4g and %.4g\n",
      lift.exact, lift.exact_error, lift.aware, kRelaxations[0], lift.smooth, arm.reach, arm.inside, arm.smallest,
      arm.largest);
  for (const auto& [name, value] : arm.lines) {
    out.text += cli::formatted("    %-18s %10.4g\n", name.c_str(), value);
    out.data["arm"][name] = value;
  }
  out.data["arm"]["reach"] = arm.reach;
  out.data["arm"]["slopes"] = {{"h", arm.slopes.lines[0].x}, {"true", arm.slopes.lines[0].y}};
  out.data["lift"] = {{"exact", lift.exact}, {"aware", lift.aware}, {"smooth", lift.smooth}};
  const bool exact_is_exact = lift.exact_error < kExactTolerance &&
                              std::abs(arm.inside - arm.exact) < 1e-4 * std::max(1.0, std::abs(arm.exact));
  out.met = exact_is_exact && std::abs(lift.exact) < kExactTolerance && lift.aware > 1e-3 && lift.smooth > 1e-4 &&
            (arm.largest - arm.smallest) > 2.0 * std::abs(arm.exact);
  out.svg = chart_svg({lift.heights, lift.gradients, arm.slopes});
  return out;
}

}  // namespace tangere::experiments
