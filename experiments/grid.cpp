#include "experiments/grid.hpp"

#include "apps/cli/progress.hpp"
#include "apps/cli/text.hpp"

namespace tangere::experiments {

std::vector<GridCell> run_grid(const std::string& what, std::span<const double> frequencies,
                               std::span<const double> relaxations, int runs, ResultLog& log, const RunCell& run) {
  std::vector<GridCell> cells;
  cli::Progress progress(what, static_cast<long>(frequencies.size() * relaxations.size()));
  for (const double frequency : frequencies) {
    for (const double kappa : relaxations) {
      progress.show(static_cast<long>(cells.size()));
      const std::string key = cli::formatted("%s, %.0f Hz, %.0e, %d runs", what.c_str(), frequency, kappa, runs);
      cells.push_back({frequency, kappa, log.result(key, [&] { return run(frequency, kappa); })});
    }
  }
  return cells;
}

nlohmann::json to_json(const std::vector<GridCell>& cells) {
  nlohmann::json out = nlohmann::json::array();
  for (const GridCell& cell : cells)
    out.push_back({{"frequency", cell.frequency}, {"kappa", cell.kappa}, {"result", cell.result}});
  return out;
}

Chart grid_chart(const std::string& title, const ChartAxis& values_axis, const std::vector<GridCell>& cells,
                 const std::vector<double>& values) {
  Chart chart{title, {"relaxation", true}, values_axis};
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string name = cli::formatted("%.0f Hz", cells[i].frequency);
    if (chart.lines.empty() || chart.lines.back().name != name) chart.lines.push_back({name, {}, {}});
    chart.lines.back().x.push_back(cells[i].kappa);
    chart.lines.back().y.push_back(values[i]);
  }
  return chart;
}

}  // namespace tangere::experiments
