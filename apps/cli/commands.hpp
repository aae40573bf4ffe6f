#pragma once

/// The commands of `tangere`, one source file each. A command returns the exit code: 0 fine, 1 a check failed, 2 bad
/// input.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tangere::cli {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitBadInput = 2;

struct QueryArguments {
  /// `-` is standard input.
  std::string file;
};
[[nodiscard]] int run_query(const QueryArguments& arguments);

struct ClearanceArguments {
  /// A scene (.json), URDF or MJCF.
  std::string file;
  /// A file of JSON lines, `-` for standard input; empty: one question about `q`.
  std::string queries;
  /// Empty: the configuration of the file.
  std::vector<double> q;
  std::optional<double> margin;
  /// `distance` or `scaling`.
  std::string metric = "distance";
  std::string base = "fixed";
  std::vector<std::string> package_paths;
};
[[nodiscard]] int run_clearance(const ClearanceArguments& arguments);

struct InspectArguments {
  std::string file;
  /// `fixed` or `free`.
  std::string base = "fixed";
  std::vector<std::string> package_paths;
  bool strict = false;
  bool json = false;
  /// Empty: describe the robot; `urdf`, `mjcf`: write it as such a file.
  std::string export_as;
  /// The file to write; empty: standard output.
  std::string output;
  /// The state to evaluate at: coordinates, or the name of a keyframe. None of them: no evaluation.
  std::vector<double> q;
  std::vector<double> v;
  std::string keyframe;
};
[[nodiscard]] int run_inspect(const InspectArguments& arguments);

struct SimulateArguments {
  /// A scene (.json), URDF or MJCF.
  std::string file;
  /// The contact formulation: lcp, single_level or bilevel; and the relaxation of the smooth ones.
  std::string contact = "lcp";
  std::optional<double> kappa;
  std::optional<int> points;
  /// The scene's if not given.
  std::optional<double> time_step;
  int steps = 1000;
  /// Disturbs the velocities of the start.
  std::optional<std::uint64_t> seed;
  /// The same in every step; empty: that of the keyframe, or zero.
  std::vector<double> u;
  /// A state of the file to start from, by name, under its control; empty: the start of the file.
  std::string keyframe;
  /// A file with the control of every step (apps/cli/controls.hpp).
  std::string controls;
  /// Servos keep the positions of the start.
  bool hold = false;
  /// A file for the Jacobians of every step, a line of JSON each; empty: none.
  std::string jacobians;
  /// `fixed` or `free`.
  std::string base = "fixed";
  std::vector<std::string> package_paths;
  /// Empty: no recording.
  std::string record;
  double frames_per_second = 60.0;
  /// Empty: no page.
  std::string html;
  /// Serve the run to browsers while it goes, at most in real time.
  bool live = false;
  /// The server's port; 0: any.
  std::uint16_t port = 0;
  bool check_gradients = false;
  bool json = false;
};
[[nodiscard]] int run_simulate(const SimulateArguments& arguments);

struct OptimizeArguments {
  /// A problem file, the name of one of ours, or `all` of these.
  std::string problem;
  /// The folder with our scene files; empty: found.
  std::string scenes;
  /// Solve from so many starts with noise, instead of once without; 0: without.
  int seeds = 0;
  /// Empty: no recording, no page.
  std::string record;
  std::string html;
  /// A line per iteration on standard error.
  bool progress = false;
  bool json = false;
};
[[nodiscard]] int run_optimize(const OptimizeArguments& arguments);

struct ViewArguments {
  /// A recording, scene, URDF, MJCF, or file of queries.
  std::string file;
  /// Recordings to overlay.
  std::vector<std::string> ghosts;
  /// Files to write instead of serving; empty: not.
  std::string html;
  std::string gltf;
  std::string csv;
  /// 0: any.
  std::uint16_t port = 0;
  /// `fixed` or `free`.
  std::string base = "fixed";
  std::vector<std::string> package_paths;
};
[[nodiscard]] int run_view(const ViewArguments& arguments);

struct ExperimentArguments {
  /// Empty: list them. `all`: every one.
  std::string name;
  /// The folder with our scene files; empty: found.
  std::string scenes;
  /// The folder of results, as they come, and of pictures.
  std::string output = "tangere-experiments";
  /// In every cell of a table; 0: as many as the paper.
  int runs = 0;
  /// Go on where an interrupted run was, or start anew. Neither: results of an earlier run are an error.
  bool resume = false;
  bool overwrite = false;
  /// A folder for the experiments' pages; empty: none.
  std::string html;
  bool json = false;
};
[[nodiscard]] int run_experiment(const ExperimentArguments& arguments);

struct DoctorArguments {
  bool json = false;
};
[[nodiscard]] int run_doctor(const DoctorArguments& arguments);

struct DemoArguments {
  /// Empty: build/demo if there is a folder `build`, else tangere-demo.
  std::string output;
  /// The folder with our scene files; empty: found.
  std::string scenes;
  /// Folders with recordings that the gallery shows too.
  std::vector<std::string> recordings;
  std::uint64_t seed = 1;
};
[[nodiscard]] int run_demo(const DemoArguments& arguments);

}  // namespace tangere::cli
