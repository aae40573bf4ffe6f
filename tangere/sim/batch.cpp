#include "tangere/sim/batch.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "tangere/math/error.hpp"
#include "tangere/math/task_pool.hpp"

namespace tangere {
namespace {

using RowMap = Eigen::Map<RowMatrixX>;

void require_length(const char* name, std::size_t size, std::size_t expected) {
  if (size != expected)
    throw InputError(name, "must have " + std::to_string(expected) + " numbers, got " + std::to_string(size));
}

/// Scratch of one thread.
struct Worker {
  explicit Worker(const World& world) : workspace(world) {}
  Workspace workspace;
  State state;
  State next;
  VectorX u;
  Tape tape;
  StepJacobians jacobians;
  StateTangent g;
  StateTangent g_state;
  VectorX g_u;
  MatrixX columns;
  MatrixX g_columns;
  std::vector<StateTangent> gradients;
  /// A rollout of the world with this number.
  std::unique_ptr<Rollout> rollout;
  std::uint64_t rollout_of = 0;
};

/// State of a world between live steps. Workspaces are of one model (sim/step.hpp), so where worlds differ each has
/// its own; else the threads' are enough.
struct Place {
  WarmStart warm;
  std::unique_ptr<Workspace> workspace;
  Tape tape;
};

}  // namespace

void BatchOptions::verify() const {
  if (num_threads < 0 || num_threads > 1024)
    throw InputError("num_threads", "must be from 0 to 1024, got " + std::to_string(num_threads));
  if (max_tapes < 1) throw InputError("max_tapes", "must be at least 1, got " + std::to_string(max_tapes));
}

struct Batch::Data {
  BatchOptions options;
  State start;
  int n = 0;
  int nq = 0;
  int nv = 0;
  int nu = 0;
  /// One for all, or one each.
  std::vector<std::shared_ptr<const World>> worlds;
  RowMatrixX q;
  RowMatrixX v;
  std::vector<StepStatus> statuses;
  std::vector<Place> places;
  bool recorded = false;
  std::function<void()> watch;
  std::vector<Worker> workers;
  TaskPool pool;

  Data(const World& world, const State& from, int size, const BatchOptions& given)
      : options(given),
        start(from),
        n(size),
        nq(world.nq()),
        nv(world.nv()),
        nu(world.nu()),
        q(size, world.nq()),
        v(size, world.nv()),
        statuses(static_cast<std::size_t>(size), StepStatus::solved),
        places(static_cast<std::size_t>(size)),
        pool(given.num_threads) {
    worlds.push_back(std::make_shared<const World>(world));
    for (int i = 0; i < pool.num_threads(); ++i) workers.emplace_back(world);
    q.rowwise() = start.q.transpose();
    v.rowwise() = start.v.transpose();
  }

  [[nodiscard]] const World& world(int i) const {
    return *worlds[worlds.size() == 1 ? 0 : static_cast<std::size_t>(i)];
  }
  [[nodiscard]] std::size_t count(int numbers_a_world) const {
    return static_cast<std::size_t>(n) * static_cast<std::size_t>(numbers_a_world);
  }

  /// task(world, its thread's scratch) for all worlds, errors with the world's name.
  template <class F>
  void for_all(const F& task) {
    // enough of each world's work that handing it out costs nothing, and every thread gets some
    const int run_length = std::clamp(n / (8 * pool.num_threads()), 1, 16);
    std::atomic<bool> stopped = false;
    std::exception_ptr interruption;
    pool.run(n, run_length, [&](int i, int thread) {
      if (stopped.load(std::memory_order_relaxed)) return;
      if (thread == 0 && watch) {
        try {
          watch();
        } catch (...) {
          interruption = std::current_exception();
          stopped = true;
          return;
        }
      }
      try {
        task(i, workers[thread]);
      } catch (const InputError& error) {
        throw InputError("worlds[" + std::to_string(i) + "]." + error.field(), error.reason());
      }
    });
    if (interruption != nullptr) std::rethrow_exception(interruption);
  }

  [[nodiscard]] Workspace& workspace_of(int i, Worker& worker) {
    if (worlds.size() == 1) return worker.workspace;
    std::unique_ptr<Workspace>& own = places[i].workspace;
    if (own == nullptr) own = std::make_unique<Workspace>(world(i));
    return *own;
  }

  void live_step(int i, In controls, Worker& worker, bool keep) {
    Place& place = places[i];
    worker.state.q = q.row(i);
    worker.state.v = v.row(i);
    worker.u = Eigen::Map<const VectorX>(controls.data() + std::ptrdiff_t{i} * nu, nu);
    Workspace& workspace = workspace_of(i, worker);
    workspace.restore(place.warm);
    const StepResult& result =
        tangere::step(world(i), worker.state, worker.u, workspace, worker.next, keep ? &place.tape : nullptr);
    statuses[i] = result.status;
    workspace.save(place.warm);
    q.row(i) = worker.next.q;
    v.row(i) = worker.next.v;
  }

  void require_recorded() const {
    if (!recorded) throw InputError("batch", "has no recorded step: call record first");
  }

  void write_jacobians(const StepJacobians& j, int i, Out A, Out B) const {
    RowMap to_A(A.data() + std::ptrdiff_t{i} * 4 * nv * nv, 2 * nv, 2 * nv);
    to_A << j.q_q, j.q_v, j.v_q, j.v_v;
    RowMap to_B(B.data() + std::ptrdiff_t{i} * 2 * nv * nu, 2 * nv, nu);
    to_B << j.q_u, j.v_u;
  }

  void read_state(In states, int i, State& out) const {
    const double* from = states.data() + std::ptrdiff_t{i} * (nq + nv);
    out.q = Eigen::Map<const VectorX>(from, nq);
    out.v = Eigen::Map<const VectorX>(from + nq, nv);
  }
  void write_state(const State& state, double* block, int i) const {
    double* to = block + std::ptrdiff_t{i} * (nq + nv);
    to = std::copy_n(state.q.data(), nq, to);
    std::copy_n(state.v.data(), nv, to);
  }
  void read_tangent(const double* block, int i, StateTangent& out) const {
    const double* from = block + std::ptrdiff_t{i} * 2 * nv;
    out.q = Eigen::Map<const VectorX>(from, nv);
    out.v = Eigen::Map<const VectorX>(from + nv, nv);
  }
  void write_tangent(const StateTangent& g, Out out, int i) const {
    double* to = out.data() + std::ptrdiff_t{i} * 2 * nv;
    to = std::copy_n(g.q.data(), nv, to);
    std::copy_n(g.v.data(), nv, to);
  }

  /// The rollout of world i from its state with its controls, in the thread's memory.
  Rollout& run_rollout(int i, In states, In controls, int num_steps, Worker& worker) {
    if (worker.rollout == nullptr || worker.rollout_of != world(i).number()) {
      worker.rollout = std::make_unique<Rollout>(
          world(i), RolloutOptions{.max_tapes = options.max_tapes, .gradient_mode = options.gradient_mode});
      worker.rollout_of = world(i).number();
    }
    read_state(states, i, worker.state);
    worker.columns.resize(nu, num_steps);
    for (int t = 0; t < num_steps; ++t)
      worker.columns.col(t) = Eigen::Map<const VectorX>(controls.data() + (std::ptrdiff_t{t} * n + i) * nu, nu);
    worker.rollout->run(worker.state, worker.columns);
    return *worker.rollout;
  }
};

namespace {

/// The number of worlds, checked.
int checked_size(const World& world, const State& start, int size) {
  if (size < 1) throw InputError("size", "must be at least 1, got " + std::to_string(size));
  if (start.q.size() != world.nq() || start.v.size() != world.nv())
    throw InputError("start", "must have " + std::to_string(world.nq()) + " positions and " +
                                  std::to_string(world.nv()) + " velocities");
  return size;
}

}  // namespace

Batch::Batch(const World& world, const State& start, int size, const BatchOptions& options) {
  options.verify();
  data_ = std::make_unique<Data>(world, start, checked_size(world, start, size), options);
}
Batch::~Batch() = default;

int Batch::size() const { return data_->n; }
int Batch::num_threads() const { return data_->pool.num_threads(); }
const World& Batch::world(int i) const { return data_->world(i); }
std::span<double> Batch::q() { return {data_->q.data(), data_->count(data_->nq)}; }
std::span<double> Batch::v() { return {data_->v.data(), data_->count(data_->nv)}; }
std::span<const StepStatus> Batch::statuses() const { return data_->statuses; }
void Batch::set_watch(std::function<void()> watch) { data_->watch = std::move(watch); }

void Batch::set_parameters(std::span<const StepParameter> parameters, std::span<const double> values) {
  Data& d = *data_;
  const int num = static_cast<int>(parameters.size());
  require_length("values", values.size(), d.count(num));
  std::vector<std::shared_ptr<const World>> changed(static_cast<std::size_t>(d.n));
  d.for_all([&](int i, Worker&) {
    const Eigen::Map<const VectorX> row(values.data() + std::ptrdiff_t{i} * num, num);
    changed[i] = std::make_shared<const World>(with_parameters(d.world(i), parameters, row));
  });
  d.worlds = std::move(changed);
  d.recorded = false;
  for (Place& place : d.places) place.workspace = nullptr;
  for (Worker& worker : d.workers) worker.rollout = nullptr;
}

void Batch::reset(std::span<const int> which) {
  Data& d = *data_;
  for (const int i : which)
    if (i < 0 || i >= d.n)
      throw InputError("which", "must be from 0 to " + std::to_string(d.n - 1) + ", got " + std::to_string(i));
  for (const int i : which) {
    d.q.row(i) = d.start.q;
    d.v.row(i) = d.start.v;
    Place& place = d.places[i];
    place.warm = {};
    d.statuses[i] = StepStatus::solved;
  }
}

void Batch::reset() {
  std::vector<int> all(static_cast<std::size_t>(data_->n));
  for (int i = 0; i < data_->n; ++i) all[i] = i;
  reset(all);
}

void Batch::step(In controls) {
  Data& d = *data_;
  require_length("controls", controls.size(), d.count(d.nu));
  d.for_all([&](int i, Worker& worker) { d.live_step(i, controls, worker, false); });
}

void Batch::record(In controls) {
  Data& d = *data_;
  require_length("controls", controls.size(), d.count(d.nu));
  d.recorded = false;
  d.for_all([&](int i, Worker& worker) { d.live_step(i, controls, worker, true); });
  d.recorded = true;
}

void Batch::jacobians(Out A, Out B) {
  Data& d = *data_;
  d.require_recorded();
  require_length("A", A.size(), d.count(4 * d.nv * d.nv));
  require_length("B", B.size(), d.count(2 * d.nv * d.nu));
  d.for_all([&](int i, Worker& worker) {
    (void)step_jacobians(d.world(i), d.places[i].tape, d.workspace_of(i, worker), worker.jacobians,
                         d.options.gradient_mode);
    d.write_jacobians(worker.jacobians, i, A, B);
  });
}

void Batch::vjp(In g_next, Out g_state, Out g_controls) {
  Data& d = *data_;
  d.require_recorded();
  require_length("g_next", g_next.size(), d.count(2 * d.nv));
  require_length("g_state", g_state.size(), d.count(2 * d.nv));
  require_length("g_controls", g_controls.size(), d.count(d.nu));
  d.for_all([&](int i, Worker& worker) {
    d.read_tangent(g_next.data(), i, worker.g);
    (void)step_vjp(d.world(i), d.places[i].tape, d.workspace_of(i, worker), worker.g, worker.g_state, worker.g_u,
                   d.options.gradient_mode);
    d.write_tangent(worker.g_state, g_state, i);
    std::copy_n(worker.g_u.data(), d.nu, g_controls.data() + std::ptrdiff_t{i} * d.nu);
  });
}

void Batch::jvp(In d_state, In d_controls, Out d_next) {
  Data& d = *data_;
  d.require_recorded();
  require_length("d_state", d_state.size(), d.count(2 * d.nv));
  require_length("d_controls", d_controls.size(), d.count(d.nu));
  require_length("d_next", d_next.size(), d.count(2 * d.nv));
  d.for_all([&](int i, Worker& worker) {
    d.read_tangent(d_state.data(), i, worker.g);
    worker.u = Eigen::Map<const VectorX>(d_controls.data() + std::ptrdiff_t{i} * d.nu, d.nu);
    (void)step_jvp(d.world(i), d.places[i].tape, d.workspace_of(i, worker), worker.g, worker.u, worker.g_state);
    d.write_tangent(worker.g_state, d_next, i);
  });
}

void Batch::rollout(In states, In controls, int num_steps, Out all_states) {
  Data& d = *data_;
  if (num_steps < 0) throw InputError("num_steps", "must not be negative, got " + std::to_string(num_steps));
  const auto steps = static_cast<std::size_t>(num_steps);
  const std::size_t block = d.count(d.nq + d.nv);
  require_length("states", states.size(), block);
  require_length("controls", controls.size(), steps * d.count(d.nu));
  require_length("all_states", all_states.size(), (steps + 1) * block);
  d.for_all([&](int i, Worker& worker) {
    Workspace& workspace = d.workspace_of(i, worker);
    workspace.forget();
    d.read_state(states, i, worker.state);
    d.write_state(worker.state, all_states.data(), i);
    for (std::size_t t = 0; t < steps; ++t) {
      worker.u =
          Eigen::Map<const VectorX>(controls.data() + t * d.count(d.nu) + static_cast<std::size_t>(i * d.nu), d.nu);
      (void)tangere::step(d.world(i), worker.state, worker.u, workspace, worker.state);
      d.write_state(worker.state, all_states.data() + (t + 1) * block, i);
    }
  });
}

void Batch::rollout_vjp(In states, In controls, int num_steps, In gradients, Out g_states, Out g_controls) {
  Data& d = *data_;
  if (num_steps < 0) throw InputError("num_steps", "must not be negative, got " + std::to_string(num_steps));
  const auto steps = static_cast<std::size_t>(num_steps);
  require_length("states", states.size(), d.count(d.nq + d.nv));
  require_length("controls", controls.size(), steps * d.count(d.nu));
  require_length("gradients", gradients.size(), (steps + 1) * d.count(2 * d.nv));
  require_length("g_states", g_states.size(), d.count(2 * d.nv));
  require_length("g_controls", g_controls.size(), steps * d.count(d.nu));
  d.for_all([&](int i, Worker& worker) {
    Rollout& rollout = d.run_rollout(i, states, controls, num_steps, worker);
    worker.gradients.resize(steps + 1);
    for (std::size_t t = 0; t <= steps; ++t)
      d.read_tangent(gradients.data() + t * d.count(2 * d.nv), i, worker.gradients[t]);
    (void)rollout.reverse(worker.gradients, worker.g_state, worker.g_columns);
    d.write_tangent(worker.g_state, g_states, i);
    for (int t = 0; t < num_steps; ++t)
      Eigen::Map<VectorX>(g_controls.data() + (std::ptrdiff_t{t} * d.n + i) * d.nu, d.nu) = worker.g_columns.col(t);
  });
}

void Batch::linearize(In states, In controls, Out next, Out A, Out B) {
  Data& d = *data_;
  require_length("states", states.size(), d.count(d.nq + d.nv));
  require_length("controls", controls.size(), d.count(d.nu));
  require_length("next", next.size(), d.count(d.nq + d.nv));
  require_length("A", A.size(), d.count(4 * d.nv * d.nv));
  require_length("B", B.size(), d.count(2 * d.nv * d.nu));
  d.for_all([&](int i, Worker& worker) {
    Workspace& workspace = d.workspace_of(i, worker);
    workspace.forget();
    d.read_state(states, i, worker.state);
    worker.u = Eigen::Map<const VectorX>(controls.data() + std::ptrdiff_t{i} * d.nu, d.nu);
    (void)tangere::step(d.world(i), worker.state, worker.u, workspace, worker.next, &worker.tape);
    (void)step_jacobians(d.world(i), worker.tape, d.workspace_of(i, worker), worker.jacobians, d.options.gradient_mode);
    d.write_state(worker.next, next.data(), i);
    d.write_jacobians(worker.jacobians, i, A, B);
  });
}

}  // namespace tangere
