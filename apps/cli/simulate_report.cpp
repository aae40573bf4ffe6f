#include "apps/cli/simulate_report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include <nlohmann/json.hpp>

#include "apps/cli/text.hpp"
#include "tangere/multibody/way_columns.hpp"

namespace tangere::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Beyond this many bodies their positions are for machines.
constexpr int kMostPrinted = 20;

double per_second(const SimulationReport& report) {
  return report.wall_seconds > 0.0 ? report.steps / report.wall_seconds : 0.0;
}

double mean_contacts(const SimulationReport& report) {
  return report.steps > 0 ? static_cast<double>(report.num_contacts) / report.steps : 0.0;
}

double part_of_islands(const SimulationReport& report, BoxedLcpStage stage) {
  if (report.num_islands == 0) return 0.0;
  return static_cast<double>(report.stages[static_cast<std::size_t>(stage)]) / static_cast<double>(report.num_islands);
}

/// The coordinate of a column of the Jacobian: `q of crate.x`.
std::string column_name(const World& world, int column) {
  const int nv = world.nv();
  if (column < 2 * nv) return (column < nv ? "q of " : "v of ") + world.model().dof_name(column % nv);
  const int i = column - 2 * nv;
  if (world.actuators().empty()) return "u of " + world.model().dof_name(i);
  return "u of " + world.actuators()[i].name;
}

void print_gradients(const World& world, const GradientReport& report) {
  const char* verdict = report.num_compared() == 0 ? "nothing to compare" : report.passed() ? "PASS" : "FAIL";
  std::printf("\n  gradients of %d steps against differences: %s\n", report.num_steps, verdict);
  for (const BlockError& block : report.blocks) {
    std::printf("    %s  worst %.1e", std::string(block.name).c_str(), block.worst);
    if (block.step >= 0)
      std::printf("  (step %d, %s)%s", block.step, column_name(world, block.column).c_str(),
                  block.worst > kGradientTolerance ? "  FAIL" : "");
    std::printf("\n");
  }
  std::printf("    %d columns, %d ties", report.num_columns, report.num_ties);
  if (report.num_unclear > 0) std::printf(", %d where differences are not accurate enough", report.num_unclear);
  if (report.num_approximate > 0) std::printf("; %d approximate steps left out", report.num_approximate);
  if (report.num_not_exact > 0)
    std::printf("; %d steps left out whose Jacobians are flagged as not exact", report.num_not_exact);
  std::printf("\n");
}

/// `4.1e-09 (step 3, q of crate[4])`, or `any`.
std::string extreme_text(const World& world, const Extreme& extreme, std::size_t kind) {
  if (extreme.step < 0) return "any";
  const int column = extreme.column + static_cast<int>(kind) * world.nv();
  return formatted("%.1e (step %d, %s)", extreme.value, extreme.step, column_name(world, column).c_str());
}

void print_width(const World& world, const GradientWidth& width) {
  if (width.num_steps == 0) return;
  std::printf("\n  how wide they hold, one coordinate alone until a contact changes (docs/which-gradient.md)\n");
  for (std::size_t kind = 0; kind < width.reach.size(); ++kind)
    std::printf("    reach in %s   %s\n", std::string(kReachNames[kind]).c_str(),
                extreme_text(world, width.reach[kind], kind).c_str());
  std::printf("    half of the steps reach %.1e in q; %d of %d steps on a tie\n", width.median_reach_q(),
              width.num_tied, width.num_steps);
  if (width.margin.step >= 0) std::printf("    margin       %.1e (step %d)\n", width.margin.value, width.margin.step);
  std::printf("    condition    %.1e (step %d); rows that repeat others: %.0f at most\n", width.condition.value,
              width.condition.step, width.repeated.value);
}

/// Null for what is not bounded.
Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json width_json(const World& world, const GradientWidth& width) {
  Json out = {{"steps", width.num_steps}, {"tied", width.num_tied}};
  for (std::size_t kind = 0; kind < width.reach.size(); ++kind) {
    const Extreme& reach = width.reach[kind];
    Json& to = out["reach"][std::string(kReachNames[kind])];
    if (reach.step < 0) continue;
    to = {{"value", reach.value},
          {"step", reach.step},
          {"column", column_name(world, reach.column + static_cast<int>(kind) * world.nv())}};
  }
  out["median_reach_q"] = number_or_null(width.median_reach_q());
  out["margin"] = width.margin.step < 0 ? Json() : Json{{"value", width.margin.value}, {"step", width.margin.step}};
  out["condition"] = {{"value", number_or_null(width.condition.value)}, {"step", width.condition.step}};
  out["repeated_rows"] = {{"value", static_cast<int>(width.repeated.value)}, {"step", width.repeated.step}};
  return out;
}

Json gradients_json(const World& world, const GradientReport& report) {
  Json out = {{"passed", report.passed()},         {"tolerance", kGradientTolerance},
              {"steps", report.num_steps},         {"approximate", report.num_approximate},
              {"not_exact", report.num_not_exact}, {"columns", report.num_columns},
              {"compared", report.num_compared()}, {"ties", report.num_ties},
              {"unclear", report.num_unclear}};
  out["blocks"] = Json::array();
  for (const BlockError& block : report.blocks) {
    Json entry = {{"name", block.name}, {"worst", block.worst}};
    if (block.step >= 0) {
      entry["step"] = block.step;
      entry["column"] = column_name(world, block.column);
    }
    out["blocks"].push_back(std::move(entry));
  }
  out["width"] = report.width.num_steps == 0 ? Json() : width_json(world, report.width);
  return out;
}

void print_overlaps(const Model& model, const std::vector<StartOverlap>& overlaps) {
  if (overlaps.empty()) return;
  std::printf("\n  These overlap at the start: exclude them, or mend their shapes or the start.\n");
  for (const StartOverlap& overlap : overlaps)
    std::printf("    %s and %s by %.3g m\n", model.body(overlap.body_A).spec.name.c_str(),
                model.body(overlap.body_B).spec.name.c_str(), overlap.depth);
}

Json overlaps_json(const Model& model, const std::vector<StartOverlap>& overlaps) {
  Json out = Json::array();
  for (const StartOverlap& overlap : overlaps)
    out.push_back({{"bodies", {model.body(overlap.body_A).spec.name, model.body(overlap.body_B).spec.name}},
                   {"depth", overlap.depth}});
  return out;
}

}  // namespace

void print_text(const World& world, const SimulationReport& report) {
  const Model& model = world.model();
  const auto row = [](const char* name, const std::string& value) { std::printf("  %-12s %s\n", name, value.c_str()); };
  std::printf("%s\n\n", model.name().c_str());
  row("bodies", std::to_string(model.num_bodies()));
  row("coordinates", formatted("nq %d, nv %d, nu %d", world.nq(), world.nv(), world.nu()));
  const double simulated = report.steps * report.time_step;
  row("simulated", formatted("%.6g s: %d steps of %.6g s", simulated, report.steps, report.time_step));
  if (report.steps > 0)
    row("wall", formatted("%.3g s: %.0f steps/s, %.3g times real time", report.wall_seconds, per_second(report),
                          per_second(report) * report.time_step));
  row("contacts", formatted("mean %.1f, most %d", mean_contacts(report), report.max_contacts));
  std::string stages;
  for (int s = 0; s < kNumBoxedLcpStages; ++s) {
    const auto stage = static_cast<BoxedLcpStage>(s);
    if (report.stages[s] == 0) continue;
    stages += formatted("%s%s %.1f %%", stages.empty() ? "" : ", ", std::string(to_string(stage)).c_str(),
                        100.0 * part_of_islands(report, stage));
  }
  const long smooth = std::accumulate(report.rungs.begin(), report.rungs.end(), 0L);
  for (std::size_t r = 0; r < kNumSmoothRungs; ++r)
    if (report.rungs[r] > 0)
      stages += formatted("%s%s %ld", stages.empty() ? "" : ", ",
                          std::string(to_string(static_cast<SmoothRung>(r))).c_str(), report.rungs[r]);
  row("islands", std::to_string(report.num_islands) + (stages.empty() ? "" : ", solved by: " + stages));
  if (smooth > 0)
    row("iterations", formatted("mean %.2f", static_cast<double>(report.iterations) / static_cast<double>(smooth)));
  row("approximate", formatted("%d steps, largest residual %.1e", report.approximate_steps, report.largest_residual));
  row("energy", formatted("%.6g J: kinetic %.6g, potential %.6g", report.kinetic_energy + report.potential_energy,
                          report.kinetic_energy, report.potential_energy));
  if (!report.recording.empty())
    row("recording", formatted("%s, %d frames", report.recording.c_str(), report.num_frames));
  if (!report.page.empty()) row("page", report.page);
  if (report.num_notices > 0)
    row("notices", formatted("%zu about the file, shown by tangere inspect", report.num_notices));

  std::vector<int> moving;
  for (int b = 0; b < model.num_bodies(); ++b)
    if (!way_of(model, b).empty()) moving.push_back(b);
  if (static_cast<int>(moving.size()) > kMostPrinted) {
    std::printf("\n  positions of %zu bodies: printed with --json\n", moving.size());
  } else if (!moving.empty()) {
    std::size_t width = 4;
    for (const int b : moving) width = std::max(width, model.body(b).spec.name.size());
    std::printf("\n  %-*s  position\n", static_cast<int>(width), "body");
    for (const int b : moving) {
      const Vector3& p = report.poses[b].p;
      std::printf("  %-*s  %.5g %.5g %.5g\n", static_cast<int>(width), model.body(b).spec.name.c_str(), p.x(), p.y(),
                  p.z());
    }
  }
  print_overlaps(model, report.overlaps);
  if (report.gradients != nullptr) {
    print_gradients(world, *report.gradients);
    print_width(world, report.gradients->width);
  }
}

void print_json(const World& world, const SimulationReport& report) {
  const Model& model = world.model();
  const auto numbers = [](const Eigen::Ref<const VectorX>& values) {
    Json list = Json::array();
    for (const double value : values) list.push_back(value);
    return list;
  };
  Json out = {{"name", model.name()},
              {"bodies", model.num_bodies()},
              {"nq", world.nq()},
              {"nv", world.nv()},
              {"nu", world.nu()},
              {"steps", report.steps},
              {"time_step", report.time_step},
              {"simulated_seconds", report.steps * report.time_step},
              {"wall_seconds", report.wall_seconds},
              {"steps_per_second", per_second(report)}};
  out["contacts"] = {{"mean", mean_contacts(report)}, {"most", report.max_contacts}};
  out["islands"] = report.num_islands;
  out["stages"] = Json::object();
  for (int s = 0; s < kNumBoxedLcpStages; ++s)
    out["stages"][std::string(to_string(static_cast<BoxedLcpStage>(s)))] = report.stages[s];
  out["previous_sets_rate"] = part_of_islands(report, BoxedLcpStage::previous_sets);
  if (world.options().formulation != Formulation::lcp) {
    out["starts"] = Json::object();
    for (std::size_t r = 0; r < kNumSmoothRungs; ++r)
      out["starts"][std::string(to_string(static_cast<SmoothRung>(r)))] = report.rungs[r];
    out["iterations"] = report.iterations;
  }
  out["contact"] = std::string(to_string(world.options().formulation));
  out["approximate_steps"] = report.approximate_steps;
  out["largest_residual"] = report.largest_residual;
  out["energy"] = {{"total", report.kinetic_energy + report.potential_energy},
                   {"kinetic", report.kinetic_energy},
                   {"potential", report.potential_energy}};
  out["poses"] = Json::array();
  for (int b = 0; b < model.num_bodies(); ++b) {
    const Pose& X = report.poses[b];
    out["poses"].push_back(
        {{"body", model.body(b).spec.name}, {"position", numbers(X.p)}, {"quaternion", numbers(X.quaternion())}});
  }
  if (!report.recording.empty()) out["recording"] = {{"file", report.recording}, {"frames", report.num_frames}};
  if (!report.page.empty()) out["page"] = report.page;
  if (report.gradients != nullptr) out["gradients"] = gradients_json(world, *report.gradients);
  out["notices"] = report.num_notices;
  if (!report.overlaps.empty()) out["start_overlaps"] = overlaps_json(model, report.overlaps);
  std::printf("%s\n", out.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

}  // namespace tangere::cli
