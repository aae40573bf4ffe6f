/// The `tangere` command: arguments in, exit code out. The work is in <name>_command.cpp.

#include <cstdio>
#include <exception>
#include <string>

#include <CLI/CLI.hpp>

#include "apps/cli/build_info.hpp"
#include "apps/cli/commands.hpp"
#include "apps/cli/output.hpp"
#include "apps/cli/python_command.hpp"
#include "tangere/io/text/text.hpp"

namespace {

using namespace tangere::cli;  // NOLINT(google-build-using-namespace): this is their program

/// CLI11's own check tells of a bound of 309 digits.
CLI::Validator whole_number() {
  return {[](std::string& text) -> std::string {
            if (!text.empty() && text.find_first_not_of("0123456789") == std::string::npos) return "";
            return "must be a whole number and not negative, got " + text;
          },
          ""};
}

int run(int argc, char** argv) {
  CLI::App app("tangere: differentiable contact", "tangere");
  app.set_version_flag("--version", program_name() + " (" + commit() + ")");
  app.require_subcommand(1);
  app.footer("Exit codes: 0 fine, 1 a check failed, 2 wrong arguments or bad input.");

  DemoArguments demo;
  CLI::App* demo_command = app.add_subcommand(
      "demo", "Simulate an arm among things of every shape, check gradients live, write pages to watch");
  demo_command->add_option("-o,--output", demo.output,
                           "Folder for the pages and the pictures (default: build/demo or tangere-demo)");
  demo_command->add_option("--scenes", demo.scenes, "Folder with the project's scene files");
  demo_command->add_option("--recordings", demo.recordings,
                           "Folder with recordings that the gallery shows too (may be repeated)");
  demo_command->add_option("--seed", demo.seed, "Seed of the random pairs")
      ->check(whole_number())
      ->capture_default_str();

  QueryArguments query;
  CLI::App* query_command = app.add_subcommand("query", "Answer pair queries: JSON lines in, JSON lines out");
  query_command->add_option("FILE", query.file, "File with one query a line, or - for standard input")->required();
  query_command->footer(
      "Each bad line gets an error object with its line number, the others are answered; exit code 2 if any was bad.");

  ClearanceArguments clearance;
  CLI::App* clearance_command = app.add_subcommand(
      "clearance", "Say which shapes of a robot or scene are near each other, with gradients; along motions too");
  clearance_command->add_option("FILE", clearance.file, "Scene (.json) or robot file (URDF, MJCF)")->required();
  clearance_command->add_option("QUERIES", clearance.queries,
                                "File with one question a line (docs/clearance.md), or - for standard input");
  clearance_command->add_option("--q", clearance.q, "Configuration: nq numbers, by commas (default: that of the file)")
      ->delimiter(',')
      ->excludes("QUERIES");
  clearance_command
      ->add_option("--margin", clearance.margin,
                   "Pairs up to this distance in metres (default: 0.1); alpha - 1 with scaling")
      ->excludes("QUERIES");
  clearance_command->add_option("--metric", clearance.metric, "distance or scaling (alpha)")
      ->check(CLI::IsMember({"distance", "scaling"}))
      ->excludes("QUERIES")
      ->capture_default_str();
  clearance_command->add_option("--base", clearance.base, "What holds the root of a URDF: fixed or free")
      ->check(CLI::IsMember({"fixed", "free"}))
      ->capture_default_str();
  clearance_command
      ->add_option("--package-path", clearance.package_paths,
                   "Folder where package://… and relative mesh names are looked for (may be repeated)")
      ->expected(1)
      ->take_all();
  clearance_command->footer(
      "Each bad line gets an error object with its line number, the others are answered; exit code 2 if any was bad.");

  InspectArguments inspect;
  CLI::App* inspect_command =
      app.add_subcommand("inspect", "Say what is in a robot (URDF, MJCF) or scene file, and what of it is not used");
  inspect_command->add_option("FILE", inspect.file, "Robot file, or a scene (.json)")->required();
  inspect_command->add_option("--q", inspect.q, "Configuration to evaluate at: nq numbers, by commas")->delimiter(',');
  inspect_command->add_option("--v", inspect.v, "Velocity to evaluate at: nv numbers, by commas")->delimiter(',');
  inspect_command->add_option("--keyframe", inspect.keyframe, "A state of the file to evaluate at, by name");
  inspect_command->add_option("--base", inspect.base, "What holds the root of a URDF: fixed or free")
      ->check(CLI::IsMember({"fixed", "free"}))
      ->capture_default_str();
  inspect_command
      ->add_option("--package-path", inspect.package_paths,
                   "Folder where package://… and relative mesh names are looked for (may be repeated)")
      ->expected(1)
      ->take_all();
  inspect_command->add_flag("--strict", inspect.strict, "Notices are errors");
  inspect_command->add_flag("--json", inspect.json, "For machines");
  inspect_command->add_option("--export", inspect.export_as, "Write the robot as a file: urdf or mjcf")
      ->check(CLI::IsMember({"urdf", "mjcf"}))
      ->excludes("--json", "--q", "--v", "--keyframe");
  inspect_command
      ->add_option("--output", inspect.output, "The file to export to, meshes beside it (default: standard output)")
      ->needs("--export");

  SimulateArguments simulate;
  CLI::App* simulate_command =
      app.add_subcommand("simulate", "Simulate a scene or a robot, record it, check its gradients");
  simulate_command->add_option("SCENE", simulate.file, "Scene (.json) or robot file (URDF, MJCF)")->required();
  simulate_command->add_option("--contact", simulate.contact, "Contact formulation: lcp, single_level or bilevel")
      ->check(CLI::IsMember({"lcp", "single_level", "bilevel"}))
      ->capture_default_str();
  simulate_command->add_option("--kappa", simulate.kappa,
                               "Relaxation of single_level and bilevel, relative (default: 1e-6)");
  simulate_command->add_option("--points", simulate.points,
                               "Contact points of a pair with single_level and bilevel, 1 to 5 (default: 1)");
  simulate_command->add_option("--dt", simulate.time_step, "Time step in seconds (default: the scene's)");
  simulate_command->add_option("--steps", simulate.steps, "Number of steps")->capture_default_str();
  simulate_command->add_option("--u", simulate.u, "Control, the same in every step: nu numbers, by commas (default: 0)")
      ->delimiter(',');
  simulate_command->add_option("--keyframe", simulate.keyframe,
                               "State of the file to start from, by name, under its control");
  simulate_command
      ->add_option("--controls", simulate.controls,
                   "File with the control of every step: lines of numbers (.csv) or a list of lists (.json); the last "
                   "one is kept")
      ->excludes("--u");
  simulate_command->add_flag("--hold", simulate.hold, "Servos keep the positions of the start")
      ->excludes("--u", "--controls");
  simulate_command->add_option("--jacobians", simulate.jacobians,
                               "File to write A and B of every step to: a line of JSON each");
  simulate_command
      ->add_option("--seed", simulate.seed,
                   "Disturb the velocities of the start by normal random numbers, 0.01 m/s or rad/s (default: not)")
      ->check(whole_number());
  simulate_command->add_option("--base", simulate.base, "What holds the root of a URDF: fixed or free")
      ->check(CLI::IsMember({"fixed", "free"}))
      ->capture_default_str();
  simulate_command
      ->add_option("--package-path", simulate.package_paths,
                   "Folder where package://… and relative mesh names are looked for (may be repeated)")
      ->expected(1)
      ->take_all();
  simulate_command->add_option("--record", simulate.record, "File to write a recording to (docs/simulate.md)");
  simulate_command->add_option("--fps", simulate.frames_per_second, "Most frames of the recording a simulated second")
      ->capture_default_str();
  simulate_command->add_option("--html", simulate.html,
                               "File to write a self-contained page to, to watch the run in a browser");
  simulate_command->add_flag("--live", simulate.live,
                             "Serve the run to browsers of this machine while it goes, at most in real time");
  simulate_command->add_option("--port", simulate.port, "Port of --live (default: any that is free)");
  simulate_command->add_flag("--check-gradients", simulate.check_gradients,
                             "Compare the Jacobians of up to 20 steps with differences; exit code 1 if any is wrong");
  simulate_command->add_flag("--json", simulate.json, "For machines");

  OptimizeArguments optimize;
  CLI::App* optimize_command =
      app.add_subcommand("optimize", "Optimise trajectories, through contact too, and check the plans");
  optimize_command
      ->add_option("PROBLEM", optimize.problem,
                   "Problem file (docs/optimise.md), the name of one of the project's, or all of these")
      ->required();
  optimize_command->add_option("--scenes", optimize.scenes, "Folder with the project's scene files");
  optimize_command->add_option("--seeds", optimize.seeds,
                               "Solve from so many starts with noise (default: one without)");
  optimize_command->add_option("--record", optimize.record, "File to write a recording of the plan to");
  optimize_command->add_option("--html", optimize.html, "File to write a self-contained page of the plan to");
  optimize_command->add_flag("--progress", optimize.progress, "A line per iteration on standard error");
  optimize_command->add_flag("--json", optimize.json, "For machines: one object per solve");
  optimize_command->footer(
      "Ctrl-C ends the solve and keeps its best iterate. Exit code 1 if a problem misses its goal (with --seeds: "
      "more than one of twenty).");

  ViewArguments view;
  CLI::App* view_command = app.add_subcommand(
      "view", "Look at a recording, scene, robot or file of queries in the browser, or write it as a page");
  view_command->add_option("FILE", view.file, "Recording, scene (.json), robot (URDF, MJCF), or queries (JSON lines)")
      ->required();
  view_command->add_option("--html", view.html, "Write one self-contained page instead of serving it");
  view_command->add_option("--gltf", view.gltf, "Write glTF 2.0 with the animation");
  view_command->add_option("--csv", view.csv, "Write a table, a line a frame");
  view_command->add_option("--ghost", view.ghosts, "Recording of the same bodies to overlay (may be repeated)")
      ->expected(1)
      ->take_all();
  view_command->add_option("--port", view.port, "Port on the loopback address (default: any that is free)");
  view_command->add_option("--base", view.base, "What holds the root of a URDF: fixed or free")
      ->check(CLI::IsMember({"fixed", "free"}))
      ->capture_default_str();
  view_command
      ->add_option("--package-path", view.package_paths,
                   "Folder where package://… and relative mesh names are looked for (may be repeated)")
      ->expected(1)
      ->take_all();

  ExperimentArguments experiment;
  CLI::App* experiment_command =
      app.add_subcommand("experiment", "Run an experiment of the papers: was its claim met?");
  experiment_command->add_option("NAME", experiment.name, "Which one, or all (default: list them)");
  experiment_command->add_option("--scenes", experiment.scenes, "Folder with the project's scene files");
  experiment_command
      ->add_option("--output", experiment.output,
                   "Folder for results as they come, and pictures; refused where it holds some")
      ->capture_default_str();
  experiment_command
      ->add_option("--runs", experiment.runs, "Runs in every cell of a table (default: as many as the paper)")
      ->check(CLI::Range(0, 1000000));
  CLI::Option* resume =
      experiment_command->add_flag("--resume", experiment.resume, "Go on where an interrupted run was");
  experiment_command->add_flag("--overwrite", experiment.overwrite, "Start anew where the folder holds results")
      ->excludes(resume);
  experiment_command->add_option("--html", experiment.html, "Folder to write pages of the experiments to");
  experiment_command->add_flag("--json", experiment.json, "For machines");
  experiment_command->footer("Exit code 1 if a claim was not met.");

  experiment_command->add_option("--engine", "local, ray or slurm: as a sweep, by the Python package (docs/sweeps.md)");
  app.add_subcommand("sweep", "Run a Python function for many rows, on many machines (docs/sweeps.md)");

  DoctorArguments doctor;
  CLI::App* doctor_command = app.add_subcommand("doctor", "Say what is present, and check that it works");
  doctor_command->add_flag("--json", doctor.json, "For machines");

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& wish) {
    return app.exit(wish);  // --help, --version
  } catch (const CLI::ParseError& error) {
    const CLI::App* where = demo_command->parsed()         ? demo_command
                            : query_command->parsed()      ? query_command
                            : clearance_command->parsed()  ? clearance_command
                            : inspect_command->parsed()    ? inspect_command
                            : simulate_command->parsed()   ? simulate_command
                            : optimize_command->parsed()   ? optimize_command
                            : view_command->parsed()       ? view_command
                            : experiment_command->parsed() ? experiment_command
                            : doctor_command->parsed()     ? doctor_command
                                                           : &app;
    std::fprintf(stderr, "tangere: %s\n\n%s", error.what(), where->help(where == &app ? "" : "tangere").c_str());
    return kExitBadInput;
  }
  if (demo_command->parsed()) return run_demo(demo);
  if (query_command->parsed()) return run_query(query);
  if (clearance_command->parsed()) return run_clearance(clearance);
  if (inspect_command->parsed()) return run_inspect(inspect);
  if (simulate_command->parsed()) return run_simulate(simulate);
  if (view_command->parsed()) return run_view(view);
  if (experiment_command->parsed()) return run_experiment(experiment);
  if (optimize_command->parsed()) return run_optimize(optimize);
  return run_doctor(doctor);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (const auto code = run_python_command(argc, argv)) return *code;
    return finish_output(run(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tangere: %s\n", tangere::printable(error.what()).c_str());
    return kExitFailed;
  }
}
