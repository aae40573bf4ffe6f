/// `tangere doctor`: what is present, and whether it works.

#include <algorithm>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "apps/cli/build_info.hpp"
#include "apps/cli/commands.hpp"
#include "apps/cli/self_check.hpp"
#include "tangere/io/query.hpp"
#include "tangere/version.hpp"

namespace tangere::cli {
namespace {

using Json = nlohmann::ordered_json;

void print_json(const std::vector<SelfCheck>& checks, bool passed) {
  Json out;
  out["version"] = kVersion;
  out["commit"] = commit();
  out["query_version"] = kQueryVersion;
  out["compiler"] = compiler();
  out["build_type"] = build_type();
  out["native"] = native_flags();
  out["vector_bits"] = vector_bits();
  out["asserts"] = asserts_alive();
  for (const auto& [name, version] : libraries()) out["libraries"][name] = version;
  for (const Tool& tool : optional_tools()) out["tools"][tool.name] = tool.path.empty() ? Json() : Json(tool.path);
  out["checks"] = Json::array();
  for (const SelfCheck& check : checks)
    out["checks"].push_back({{"name", check.name},
                             {"alpha", check.alpha},
                             {"expected_alpha", check.expected_alpha},
                             {"gradient_error", check.gradient_error},
                             {"passed", check.passed}});
  out["passed"] = passed;
  std::printf("%s\n", out.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

void print_text(const std::vector<SelfCheck>& checks, bool passed) {
  const auto row = [](const char* name, const std::string& value) { std::printf("  %-14s %s\n", name, value.c_str()); };
  std::printf("%s (%s)\n\n", program_name().c_str(), commit().c_str());

  std::printf("build\n");
  row("compiler", compiler());
  row("type", build_type() + (asserts_alive() ? ", asserts alive" : ""));
  row("target", std::string(native_flags() ? "this machine (native)" : "generic") + ", vectors of " +
                    std::to_string(vector_bits()) + " bits");

  std::printf("\nlibraries\n");
  for (const auto& [name, version] : libraries()) row(name.c_str(), version);

  std::printf("\noptional tools\n");
  for (const Tool& tool : optional_tools())
    row(tool.name.c_str(), tool.path.empty() ? "not found (" + tool.used_for + ")" : tool.path);

  std::printf("\nself-check against closed forms\n");
  for (const SelfCheck& check : checks)
    std::printf("  %-4s %-20s alpha %.10g (%.10g), gradient error %.1e\n", check.passed ? "ok" : "BAD",
                check.name.c_str(), check.alpha, check.expected_alpha, check.gradient_error);
  std::printf("\n%s\n", passed ? "all is well" : "something is wrong: see BAD above");
}

}  // namespace

int run_doctor(const DoctorArguments& arguments) {
  const std::vector<SelfCheck> checks = run_self_checks();
  const bool passed = std::all_of(checks.begin(), checks.end(), [](const SelfCheck& check) { return check.passed; });
  (arguments.json ? print_json : print_text)(checks, passed);
  return passed ? kExitOk : kExitFailed;
}

}  // namespace tangere::cli
