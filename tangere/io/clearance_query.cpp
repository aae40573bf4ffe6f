#include "tangere/io/clearance_query.hpp"

#include <optional>
#include <string>

#include "tangere/io/internal/json_lines.hpp"

namespace tangere {
namespace {

using internal::array_of;
using internal::Json;
using internal::JsonValue;

/// Memory for one selection of pairs.
struct Selected {
  Selected(const World& world, const PairSelection& selection) : near(world, selection), swept(world, selection) {}
  ClearanceWorkspace near;
  SweptWorkspace swept;
};

std::vector<PairPattern> read_patterns(const JsonValue& root, const char* field) {
  std::vector<PairPattern> out;
  const auto list = root.find(field);
  if (!list) return out;
  for (std::size_t k = 0; k < list->size(); ++k) {
    const JsonValue pair = (*list)[k];
    if (pair.size() != 2) pair.fail("must be a pair of patterns: [\"arm*\", \"*\"]");
    out.push_back({pair[0].text(), pair[1].text()});
  }
  return out;
}

ClearanceMetric read_metric(const JsonValue& root) {
  const auto metric = root.find("metric");
  const bool by_scaling = metric && metric->word({"distance", "scaling"}) == "scaling";
  return by_scaling ? ClearanceMetric::scaling : ClearanceMetric::distance;
}

bool read_flag(const JsonValue& root, const char* field, bool standard) {
  const auto flag = root.find(field);
  return flag ? flag->boolean() : standard;
}

void write_pair(const ClearancePair& pair, const char* value, Json& out) {
  out["a"] = pair.a;
  out["b"] = pair.b;
  out[value] = pair.value;
  out["point_a"] = array_of(pair.p_A);
  out["point_b"] = array_of(pair.p_B);
  out["normal"] = array_of(pair.normal);
  if (pair.part_A != 0 || pair.part_B != 0) out["parts"] = {pair.part_A, pair.part_B};
  if (!pair.solved) out["solved"] = false;
}

void answer_clearance(const JsonValue& root, const World& world, Selected& memory, Json& out) {
  ClearanceOptions options;
  if (const auto margin = root.find("margin")) options.margin = margin->number();
  options.metric = read_metric(root);
  options.gradients = read_flag(root, "gradients", true);
  const Clearance& near = clearance(world, root.at("q").numbers(world.nq()), options, memory.near);
  const bool by_distance = options.metric == ClearanceMetric::distance;
  out["collision"] = near.smallest() <= (by_distance ? 0.0 : 1.0);
  out["smallest"] = near.smallest();
  if (const auto smoothing = root.find("smoothing")) {
    VectorX gradient;
    out["smooth_minimum"] = smooth_minimum(near, smoothing->number(), options.gradients ? &gradient : nullptr);
    if (options.gradients) out["smooth_minimum_gradient"] = array_of(gradient);
  }
  out["pairs"] = Json::array();
  for (const ClearancePair& pair : near.pairs) {
    Json entry = Json::object();
    write_pair(pair, by_distance ? "distance" : "alpha", entry);
    if (options.gradients) entry["gradient"] = array_of(near.gradient(pair));
    out["pairs"].push_back(std::move(entry));
  }
}

void answer_swept(const JsonValue& root, const World& world, Selected& memory, Json& out) {
  for (const char* field : {"q", "metric", "smoothing"})
    if (const auto value = root.find(field)) value->fail("not for a motion from q0 to q1");
  SweptOptions options;
  if (const auto margin = root.find("margin")) options.margin = margin->number();
  if (const auto accuracy = root.find("accuracy")) options.accuracy = accuracy->number();
  options.gradients = read_flag(root, "gradients", true);
  const VectorX q0 = root.at("q0").numbers(world.nq());
  const VectorX q1 = root.at("q1").numbers(world.nq());
  const SweptClearance& swept = swept_clearance(world, q0, q1, options, memory.swept);
  out["lower_bound"] = swept.lower_bound;
  out["certified"] = swept.certified;
  out["nearer"] = swept.nearer;
  if (swept.nearer) {
    out["time"] = swept.time;
    write_pair(swept.pair, "distance", out);
    if (options.gradients) {
      out["gradient_q0"] = array_of(swept.d_q0);
      out["gradient_q1"] = array_of(swept.d_q1);
    }
  }
  const FirstContact& contact = first_contact(world, q0, q1, options, memory.swept);
  out["free_until"] = contact.free_until;
  if (!contact.touches) return;
  out["first_contact"] = {{"time", contact.time}};
  write_pair(contact.pair, "distance", out["first_contact"]);
}

}  // namespace

struct ClearanceLines::Data {
  explicit Data(const World& of) : world(of) {}
  World world;
  /// The memory of the last selection, and what it was.
  std::optional<Selected> selected;
  PairSelection selection;

  Selected& select(const JsonValue& root) {
    PairSelection asked{read_patterns(root, "include"), read_patterns(root, "exclude")};
    const auto same = [](const std::vector<PairPattern>& a, const std::vector<PairPattern>& b) {
      if (a.size() != b.size()) return false;
      for (std::size_t k = 0; k < a.size(); ++k)
        if (a[k].a != b[k].a || a[k].b != b[k].b) return false;
      return true;
    };
    if (!selected || !same(asked.include, selection.include) || !same(asked.exclude, selection.exclude)) {
      selected.emplace(world, asked);
      selection = std::move(asked);
    }
    return *selected;
  }
};

ClearanceLines::ClearanceLines(const World& world) : data_("ClearanceLines", std::make_unique<Data>(world)) {}
ClearanceLines::~ClearanceLines() = default;
ClearanceLines::ClearanceLines(ClearanceLines&&) noexcept = default;
ClearanceLines& ClearanceLines::operator=(ClearanceLines&&) noexcept = default;

QueryAnswer ClearanceLines::answer(std::string_view line, std::size_t line_number) {
  return internal::answer_line(line, line_number, [&](const JsonValue& root, Json& out) {
    root.require_fields({"version", "id", "q", "q0", "q1", "margin", "metric", "smoothing", "accuracy", "gradients",
                         "include", "exclude"});
    const auto version = root.find("version");
    if (version && version->number() != kQueryVersion) version->fail("must be " + std::to_string(kQueryVersion));
    Selected& memory = data_->select(root);
    if (root.has("q0") || root.has("q1")) {
      answer_swept(root, data_->world, memory, out);
    } else {
      if (const auto accuracy = root.find("accuracy")) accuracy->fail("only for a motion from q0 to q1");
      answer_clearance(root, data_->world, memory, out);
    }
  });
}

}  // namespace tangere
