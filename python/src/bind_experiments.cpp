/// Single runs of the papers' experiments, for sweeps (python/tangere/sweep/papers.py).

#include "experiments/silico_runs.hpp"
#include "python/src/support.hpp"
#include "tangere/math/error.hpp"

namespace tangere::python {
namespace {

using nb::literals::operator""_a;
using experiments::RunCount;
using experiments::StackRun;

using States = std::vector<State>;

void require_cell(double frequency, double kappa) {
  if (!(frequency >= 1.0 && frequency <= 1e5))
    throw InputError("frequency", "must be from 1 to 1e5 Hz, got " + std::to_string(frequency));
  if (!(kappa > 0.0 && kappa <= 1.0))
    throw InputError("kappa", "must be above 0 and at most 1, got " + std::to_string(kappa));
}

nb::dict to_dict(const RunCount& count) {
  nb::dict out;
  out["steps"] = count.steps;
  out["islands"] = count.islands;
  out["iterations"] = count.iterations;
  out["second_tries"] = count.second_tries;
  out["failures"] = count.failures;
  out["violation"] = count.violation;
  return out;
}

/// q and v of every step as `path`, (steps + 1, nq + nv).
void add_path(const States& states, nb::dict& out) {
  if (states.empty()) return;
  const auto nq = static_cast<std::size_t>(states.front().q.size());
  const auto nv = static_cast<std::size_t>(states.front().v.size());
  double* to = nullptr;
  Array path = empty_array({states.size(), nq + nv}, to);
  for (const State& state : states) {
    to = std::copy_n(state.q.data(), nq, to);
    to = std::copy_n(state.v.data(), nv, to);
  }
  out["path"] = path.object;
}

/// Runs `drop(random, states)` without the interpreter's lock.
template <class Drop>
nb::dict run_drop(std::uint64_t seed, bool path, Drop&& drop) {
  States states;
  RunCount count;
  {
    const nb::gil_scoped_release unlocked;
    Random random(seed);
    count = drop(random, path ? &states : nullptr);
  }
  nb::dict out = to_dict(count);
  add_path(states, out);
  return out;
}

}  // namespace

void bind_experiments(nb::module_& m) {
  m.def(
      "_silico_drop",
      [](double frequency, double kappa, std::uint64_t seed, bool path) {
        require_cell(frequency, kappa);
        return run_drop(seed, path, [&](Random& random, States* states) {
          return experiments::drop_polygon(frequency, kappa, random, states);
        });
      },
      "frequency"_a, "kappa"_a, "seed"_a, "path"_a = false, "A run of Silico's drop test.");
  m.def(
      "_silico_drop_3d",
      [](int kind, double frequency, double kappa, std::uint64_t seed, bool path) {
        require_cell(frequency, kappa);
        if (kind < 0 || kind >= static_cast<int>(experiments::kinds(1.0).size()))
          throw InputError("kind", "must be the index of one of the eight shapes, got " + std::to_string(kind));
        return run_drop(seed, path, [&](Random& random, States* states) {
          return experiments::drop_shape(kind, frequency, kappa, random, states);
        });
      },
      "kind"_a, "frequency"_a, "kappa"_a, "seed"_a, "path"_a = false, "A run of the drop test in space.");
  m.def(
      "_silico_drop_two",
      [](double frequency, double kappa, std::uint64_t seed, bool path) {
        require_cell(frequency, kappa);
        return run_drop(seed, path, [&](Random& random, States* states) {
          return experiments::drop_two(frequency, kappa, random, states);
        });
      },
      "frequency"_a, "kappa"_a, "seed"_a, "path"_a = false, "A run of the drop test with two bodies.");
  m.def(
      "_silico_stack",
      [](double frequency, double rho, double offset, bool path) {
        require_cell(frequency, rho);
        States states;
        StackRun run;
        {
          const nb::gil_scoped_release unlocked;
          run = experiments::stack_blocks(frequency, rho, offset, path ? &states : nullptr);
        }
        nb::dict out = to_dict(run.count);
        out["linear"] = run.linear;
        out["angular"] = run.angular;
        out["stable"] = run.stable;
        add_path(states, out);
        return out;
      },
      "frequency"_a, "rho"_a, "offset"_a, "path"_a = false, "A run of Silico's stack test.");
  m.def(
      "_silico_shapes",
      [] {
        std::vector<std::string> names;
        for (const experiments::Kind& kind : experiments::kinds(1.0)) names.emplace_back(kind.name);
        return names;
      },
      "The shapes of the drop test in space.");
}

}  // namespace tangere::python
