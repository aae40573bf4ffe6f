/// `tangere simulate SCENE`: steps of a scene, a summary of them, a recording, a check of the gradients.

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>

#include "apps/cli/audience.hpp"
#include "apps/cli/commands.hpp"
#include "apps/cli/controls.hpp"
#include "apps/cli/distinct_files.hpp"
#include "apps/cli/interrupt.hpp"
#include "apps/cli/progress.hpp"
#include "apps/cli/simulate_report.hpp"
#include "apps/cli/text.hpp"
#include "tangere/io/recording.hpp"
#include "tangere/io/recording_reader.hpp"
#include "tangere/io/scene_file.hpp"
#include "tangere/io/text/text.hpp"
#include "tangere/math/error.hpp"
#include "tangere/math/random.hpp"
#include "tangere/multibody/energy.hpp"
#include "tangere/multibody/kinematics.hpp"
#include "tangere/sim/step_derivatives.hpp"

namespace tangere::cli {
namespace {

/// Of the velocities that --seed adds.
constexpr double kDisturbance = 0.01;
/// Steps whose gradients are checked, spread over the run from its first to its last.
constexpr int kMostChecks = 20;

void verify(const SimulateArguments& arguments) {
  if (arguments.time_step && !(*arguments.time_step > 0.0 && *arguments.time_step <= 1.0))
    throw InputError("--dt", formatted("must be above 0 and at most 1 s, got %g", *arguments.time_step));
  for (const auto& [option, given] :
       {std::pair{"--kappa", arguments.kappa.has_value()}, std::pair{"--points", arguments.points.has_value()}})
    if (given && arguments.contact == "lcp")
      throw InputError(option, "is for smooth contact: --contact single_level or bilevel");
  if (arguments.steps < 0) throw InputError("--steps", formatted("must not be negative, got %d", arguments.steps));
  if (!(arguments.frames_per_second > 0.0 && std::isfinite(arguments.frames_per_second)))
    throw InputError("--fps", formatted("must be above 0, got %g", arguments.frames_per_second));
  const std::string partial = arguments.record.empty() ? "" : arguments.record + ".partial";
  require_distinct({{"SCENE", arguments.file}, {"--controls", arguments.controls}},
                   {{"--record", arguments.record},
                    {"the unfinished --record", partial},
                    {"--html", arguments.html},
                    {"--jacobians", arguments.jacobians}});
}

Scene load(const SimulateArguments& arguments) {
  if (arguments.base == "free" && std::filesystem::path(arguments.file).extension() == ".json")
    throw InputError("--base", "is for a URDF; in a scene every robot names its own base");
  LoadOptions options;
  options.base = arguments.base == "free" ? Base::free : Base::fixed;
  options.search_paths.assign(arguments.package_paths.begin(), arguments.package_paths.end());
  return load_scene(arguments.file, options);
}

/// The keyframe that --keyframe names; null without.
const Keyframe* keyframe_of(const SimulateArguments& arguments, const Scene& scene) {
  if (arguments.keyframe.empty()) return nullptr;
  for (const Keyframe& key : scene.robot.keyframes)
    if (key.name == arguments.keyframe) return &key;
  throw InputError("--keyframe", "the file has none called '" + arguments.keyframe + "'");
}

VectorX constant_control(const SimulateArguments& arguments, const Scene& scene, const World& world) {
  VectorX u = VectorX::Zero(world.nu());
  const Keyframe* key = keyframe_of(arguments, scene);
  if (arguments.hold) return holding_control(world, key == nullptr ? scene.q : key->q);
  if (key != nullptr && arguments.u.empty() && key->control.size() == u.size()) return key->control;
  if (arguments.u.empty()) return u;
  if (static_cast<int>(arguments.u.size()) != world.nu())
    throw InputError("--u", formatted("needs %d numbers, got %zu", world.nu(), arguments.u.size()));
  for (std::size_t i = 0; i < arguments.u.size(); ++i) {
    if (!std::isfinite(arguments.u[i])) throw InputError("--u", "must be finite numbers");
    u[static_cast<Eigen::Index>(i)] = arguments.u[i];
  }
  return u;
}

Controls controls_of(const SimulateArguments& arguments, const Scene& scene, const World& world) {
  if (!arguments.controls.empty()) return load_controls(arguments.controls, world.nu());
  return {constant_control(arguments, scene, world)};
}

State start_of(const SimulateArguments& arguments, const Scene& scene) {
  const Keyframe* key = keyframe_of(arguments, scene);
  State state = key == nullptr ? State{scene.q, scene.v} : State{key->q, key->v};
  if (!arguments.seed) return state;
  Random random(*arguments.seed);
  for (double& v : state.v) v += kDisturbance * random.normal();
  return state;
}

/// Whether step number i of n is one of those to check.
bool is_checked(int i, int n) {
  if (n <= kMostChecks) return true;
  // the k-th is at k (n − 1) / (kMostChecks − 1), rounded down
  const auto before = [&](long m) { return (m * (kMostChecks - 1) + n - 2) / (n - 1); };
  return before(i) != before(i + 1L);
}

void count(const StepResult& result, SimulationReport& report) {
  const int contacts = static_cast<int>(result.contacts.size());
  report.num_contacts += contacts;
  report.max_contacts = std::max(report.max_contacts, contacts);
  report.num_islands += result.num_islands;
  for (std::size_t s = 0; s < report.stages.size(); ++s) report.stages[s] += result.stages[s];
  for (std::size_t r = 0; r < report.rungs.size(); ++r) report.rungs[r] += result.smooth.rungs[r];
  report.iterations += result.smooth.iterations;
  if (result.status != StepStatus::solved) ++report.approximate_steps;
  report.largest_residual = std::max(report.largest_residual, result.residual);
}

void describe_end(const World& world, const State& state, SimulationReport& report) {
  const Model& model = world.model();
  Data data(model);
  forward_kinematics(model, data, state.q, state.v);
  report.kinetic_energy = kinetic_energy(model, data, state.v);
  report.potential_energy = potential_energy(model, data, state.q);
  for (int b = 0; b < model.num_bodies(); ++b) report.poses.push_back(body_pose(model, data, b));
}

double largest(const VectorX& x) { return x.size() == 0 ? 0.0 : x.cwiseAbs().maxCoeff(); }

/// A line of JSON for every step: A = ∂(q', v')/∂(q, v) and B = ∂(q', v')/∂u, rows of numbers.
class JacobianWriter {
 public:
  explicit JacobianWriter(const std::string& file) : file_(file) {
    if (file.empty()) return;
    stream_.open(file, std::ios::binary);
    if (!stream_) throw InputError(file, "cannot be written");
  }

  /// Where steps are recorded; null if nobody wants their Jacobians.
  [[nodiscard]] Tape* tape() { return file_.empty() ? nullptr : &tape_; }

  void add(const World& world, int number, Workspace& workspace) {
    if (file_.empty()) return;
    (void)step_jacobians(world, tape_, workspace, jacobians_);
    const StepJacobians& J = jacobians_;
    const int nv = world.nv();
    MatrixX A(2 * nv, 2 * nv);
    A << J.q_q, J.q_v, J.v_q, J.v_v;
    MatrixX B(2 * nv, world.nu());
    B << J.q_u, J.v_u;
    stream_ << formatted("{\"step\": %d, \"A\": ", number) << rows(A) << ", \"B\": " << rows(B) << "}\n";
    if (!stream_.flush()) throw InputError(file_, "cannot be written");
  }

 private:
  static std::string rows(const MatrixX& M) {
    std::string text = "[";
    for (int i = 0; i < M.rows(); ++i) {
      text += i == 0 ? "[" : ", [";
      for (int j = 0; j < M.cols(); ++j) text += (j == 0 ? "" : ", ") + internal::shortest(M(i, j));
      text += "]";
    }
    return text + "]";
  }

  std::string file_;
  std::ofstream stream_;
  Tape tape_;
  StepJacobians jacobians_;
};

/// One step of the run, from `state` to `state`.
class Runner {
 public:
  Runner(const World& world, const Controls& controls, GradientCheck* check, JacobianWriter& jacobians)
      : world_(world), controls_(controls), check_(check), jacobians_(jacobians), workspace_(world) {}

  const StepResult& advance(int number, State& state, SimulationReport& report) {
    const VectorX& u = controls_[std::min<std::size_t>(number, controls_.size() - 1)];
    try {
      if (check_ != nullptr && is_checked(number, report.steps)) {
        workspace_.save(warm_start_);
        check_->check(number, state, u, warm_start_);
      }
      const auto before = std::chrono::steady_clock::now();
      const StepResult& result = step(world_, state, u, workspace_, state, jacobians_.tape());
      report.wall_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
      if (result.status == StepStatus::not_finite)
        throw std::runtime_error(
            formatted("step %d: the next state would not be finite (dt = %g, max |u| = %g, max |v| = %g)", number,
                      world_.options().time_step, largest(u), largest(state.v)));
      count(result, report);
      jacobians_.add(world_, number, workspace_);
      return result;
    } catch (const InputError& error) {
      // the input was fine: this is what became of it
      throw std::runtime_error(formatted("step %d: %s", number, error.what()));
    }
  }

 private:
  const World& world_;
  const Controls& controls_;
  GradientCheck* check_;
  JacobianWriter& jacobians_;
  Workspace workspace_;
  WarmStart warm_start_;
};

/// Makes all steps. False if it was interrupted.
bool run(const World& world, const Controls& controls, State& state, RecordingWriter* recording,
         const Audience& audience, GradientCheck* check, JacobianWriter& jacobians, SimulationReport& report) {
  Runner runner(world, controls, check, jacobians);
  if (recording != nullptr) recording->add(0, state);
  audience.announce();
  const VectorX start = state.q;
  Progress progress("simulating", report.steps);
  for (int i = 0; i < report.steps; ++i) {
    if (interrupted_by() != 0) return false;
    progress.show(i);
    const StepResult& result = runner.advance(i, state, report);
    if (i == 0) report.overlaps = start_overlaps(world, start, result.contacts);
    if (recording != nullptr && largest(state.q) > kMostCoordinate)
      throw std::runtime_error(
          formatted("step %d: a coordinate is beyond %g, which no recording has", i, kMostCoordinate));
    if (recording != nullptr) recording->add(i + 1, state, result.contacts);
    audience.keep_pace((i + 1) * report.time_step);
  }
  return true;
}

/// So that it comes back bit by bit.
std::string exact(double value) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end.ptr};
}

/// What it takes to make the run again, besides its file and seed: options that were given, by their names.
std::vector<std::pair<std::string, std::string>> stamped_options(const SimulateArguments& arguments) {
  const SimulateArguments defaults;
  std::vector<std::pair<std::string, std::string>> options{{"contact", arguments.contact},
                                                           {"steps", std::to_string(arguments.steps)}};
  if (arguments.time_step) options.emplace_back("dt", exact(*arguments.time_step));
  if (arguments.kappa) options.emplace_back("kappa", exact(*arguments.kappa));
  if (arguments.points) options.emplace_back("points", exact(*arguments.points));
  std::string u;
  for (const double value : arguments.u) u += (u.empty() ? "" : ",") + exact(value);
  if (!u.empty()) options.emplace_back("u", u);
  if (!arguments.keyframe.empty()) options.emplace_back("keyframe", arguments.keyframe);
  if (!arguments.controls.empty()) options.emplace_back("controls", arguments.controls);
  if (arguments.hold) options.emplace_back("hold", "true");
  if (arguments.base != defaults.base) options.emplace_back("base", arguments.base);
  if (arguments.frames_per_second != defaults.frames_per_second)
    options.emplace_back("fps", exact(arguments.frames_per_second));
  for (std::size_t i = 0; i < arguments.package_paths.size(); ++i)
    options.emplace_back("package-path" + (i == 0 ? "" : " " + std::to_string(i + 1)), arguments.package_paths[i]);
  return options;
}

/// Null if nobody wants one.
std::unique_ptr<RecordingWriter> make_recording(const SimulateArguments& arguments, const World& world,
                                                Audience& audience) {
  if (arguments.record.empty() && !audience.is_there()) return nullptr;
  RecordingOptions options{.frames_per_second = arguments.frames_per_second};
  options.made_by.command = "simulate " + arguments.file;
  options.made_by.seed = arguments.seed;
  options.made_by.options = stamped_options(arguments);
  if (audience.is_there()) options.listener = &audience;
  return std::make_unique<RecordingWriter>(world, arguments.record, options);
}

/// What an unfinished run leaves, in words.
std::string left_behind(const SimulateArguments& arguments, const RecordingWriter* recording) {
  std::string text;
  if (recording != nullptr && !arguments.record.empty())
    text += ", what there is is in " + recording->partial_file().string();
  if (!arguments.html.empty()) text += ", " + arguments.html + " shows what there is";
  return text;
}

/// Numbers that are out of range are named as the options are.
SmoothContact smooth_options(const SimulateArguments& arguments) {
  SmoothContact options;
  options.kappa = arguments.kappa.value_or(options.kappa);
  options.points = arguments.points.value_or(options.points);
  try {
    options.verify();
  } catch (const InputError& error) {
    throw InputError("--" + error.field(), error.reason());
  }
  return options;
}

int simulate(const SimulateArguments& arguments) {
  verify(arguments);
  const Scene scene = load(arguments);
  WorldOptions options;
  options.time_step = arguments.time_step.value_or(scene.time_step);
  options.formulation = formulation_from(arguments.contact);
  options.smooth = smooth_options(arguments);
  const World world(scene.robot.model, scene.robot.actuators, options);
  const Controls controls = controls_of(arguments, scene, world);
  State state = start_of(arguments, scene);
  SimulationReport report;
  report.steps = arguments.steps;
  report.time_step = options.time_step;
  report.num_notices = scene.robot.notices.size();

  // from here on an interruption ends the run between two steps
  const InterruptGuard guard;
  Audience audience(arguments.html, arguments.live, arguments.port);
  const std::unique_ptr<RecordingWriter> recording = make_recording(arguments, world, audience);
  std::unique_ptr<GradientCheck> check;
  if (arguments.check_gradients) check = std::make_unique<GradientCheck>(world);

  JacobianWriter jacobians(arguments.jacobians);
  try {
    if (!run(world, controls, state, recording.get(), audience, check.get(), jacobians, report)) {
      audience.write_page();
      std::fprintf(stderr, "tangere simulate: interrupted%s\n", left_behind(arguments, recording.get()).c_str());
      return 128 + interrupted_by();
    }
  } catch (const std::runtime_error& error) {
    audience.write_page();
    throw std::runtime_error(error.what() + left_behind(arguments, recording.get()));
  }
  if (recording) {
    recording->finish();
    report.recording = arguments.record;
    report.num_frames = recording->num_frames();
  }
  audience.write_page();
  report.page = arguments.html;
  describe_end(world, state, report);
  if (check) report.gradients = &check->report();
  (arguments.json ? print_json : print_text)(world, report);
  std::fflush(stdout);
  if (report.approximate_steps > 0)
    std::fprintf(stderr, "tangere simulate: warning: contact was not solved in %d of %d steps\n",
                 report.approximate_steps, report.steps);
  audience.stay();
  return check && !check->report().passed() ? kExitFailed : kExitOk;
}

}  // namespace

int run_simulate(const SimulateArguments& arguments) {
  try {
    return simulate(arguments);
  } catch (const InputError& error) {
    std::fprintf(stderr, "tangere simulate: %s\n", printable(error.what()).c_str());
    return kExitBadInput;
  }
}

}  // namespace tangere::cli
