#include "apps/cli/demo_page.hpp"

#include <algorithm>
#include <string_view>

#include "apps/cli/text.hpp"
#include "tangere/version.hpp"

namespace tangere::cli {
namespace {

constexpr std::string_view kHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tangere: the tangent of contact</title>
<style>
  :root { --ink: #1f2937; --soft: #64748b; --line: #e2e8f0; --good: #15803d; --bad: #b91c1c; }
  * { box-sizing: border-box; }
  body { margin: 0; background: #fbfcfd; color: var(--ink); font: 16px/1.55 system-ui, "Segoe UI", Roboto, sans-serif; }
  main { max-width: 1180px; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
  h1 { margin: 0 0 .25rem; font-size: 1.9rem; letter-spacing: -.01em; }
  h2 { margin: 2.5rem 0 .5rem; font-size: 1.25rem; }
  p { max-width: 46rem; }
  .soft { color: var(--soft); }
  .pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 520px), 1fr)); gap: 1.25rem; margin-top: 1.5rem; }
  figure { margin: 0; background: #fff; border: 1px solid var(--line); border-radius: 12px; overflow: hidden; }
  figure svg { display: block; width: 100%; height: auto; }
  .scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: 12px; background: #fff; }
  table { border-collapse: collapse; width: 100%; font-size: .875rem; font-variant-numeric: tabular-nums; }
  th, td { padding: .35rem .8rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line); }
  th:first-child, td:first-child { text-align: left; }
  th { color: var(--soft); font-weight: 600; }
  tr:last-child td { border-bottom: 0; }
  .good { color: var(--good); font-weight: 600; }
  .bad { color: var(--bad); font-weight: 600; }
</style>
</head>
<body>
<main>
)";

constexpr std::string_view kIntroduction = R"(<h1>Tangere: the tangent of contact</h1>
<p class="soft">The minimum scaling &alpha; is the factor by which both shapes grow (or shrink) about their own origins until they
touch: more than 1 apart, 1 touching, less than 1 overlapping. It comes with the touching point, the normal, the witness
points, and the derivatives of all of them.</p>
)";

std::string table_row(const CombinationCheck& check) {
  return formatted(
      "<tr><td>%s, %s</td><td>%.3f &ndash; %.3f</td><td>%.1f</td><td>%.1f</td><td>%.1e</td><td>%.1e</td><td "
      "class=\"%s\">%s</td></tr>\n",
      check.type_a.c_str(), check.type_b.c_str(), check.smallest_alpha, check.largest_alpha, check.mean_iterations,
      check.microseconds, check.pose_error, check.parameter_error, check.passed ? "good" : "bad",
      check.passed ? "pass" : "FAIL");
}

}  // namespace

DemoSummary summary_of(const std::vector<CombinationCheck>& checks) {
  DemoSummary summary{static_cast<int>(checks.size()), 0, 0.0, 0.0};
  for (const CombinationCheck& check : checks) {
    summary.failed += check.passed ? 0 : 1;
    summary.worst_pose_error = std::max(summary.worst_pose_error, check.pose_error);
    summary.worst_parameter_error = std::max(summary.worst_parameter_error, check.parameter_error);
  }
  return summary;
}

std::string demo_page(const std::vector<Picture>& pictures, const std::vector<CombinationCheck>& checks,
                      std::uint64_t seed) {
  std::string page(kHead);
  page += kIntroduction;

  page += "<div class=\"pictures\">\n";
  for (const Picture& picture : pictures) page += "<figure>\n" + picture.svg + "</figure>\n";
  page += "</div>\n";

  const DemoSummary summary = summary_of(checks);
  page += "<h2>Gradients, checked live</h2>\n";
  page += formatted(
      "<p><span class=\"%s\">%s</span>: %d combinations of shapes, %d random pairs each (seed %llu). Each gradient in "
      "both poses (12 numbers) and in "
      "all size parameters is compared with central differences; the worst relative error is %.1e in poses and %.1e in "
      "sizes, %.0e is allowed.</p>\n",
      summary.failed == 0 ? "good" : "bad", summary.failed == 0 ? "PASS" : "FAIL", summary.combinations,
      kPairsPerCombination, static_cast<unsigned long long>(seed), summary.worst_pose_error,
      summary.worst_parameter_error, kPairTolerance);
  page +=
      "<div class=\"scroll\"><table>\n<tr><th>shapes</th><th>&alpha;</th><th>iterations</th><th>query + gradient, "
      "&micro;s</th>"
      "<th>pose error</th><th>size error</th><th></th></tr>\n";
  for (const CombinationCheck& check : checks) page += table_row(check);
  page += "</table></div>\n";
  page += "<p class=\"soft\">tangere " + std::string(kVersion) + "</p>\n</main>\n</body>\n</html>\n";
  return page;
}

}  // namespace tangere::cli
