/// Batches of worlds, and of pair queries.

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>

#include "python/src/world.hpp"
#include "tangere/multibody/tangent_map.hpp"
#include "tangere/proximity/batch.hpp"
#include "tangere/proximity/scaling_derivatives.hpp"
#include "tangere/sim/batch.hpp"

namespace tangere::python {
namespace {

using nb::literals::operator""_a;

/// A batch, and whoever uses it now: one at a time, others are told.
struct OwnedBatch {
  SharedWorld world;
  std::unique_ptr<Batch> batch;
  std::unique_ptr<std::atomic<bool>> busy = std::make_unique<std::atomic<bool>>(false);
  /// Whether worlds have parameters of their own.
  bool has_parameters = false;

  OwnedBatch(const SharedWorld& of, int size, const std::optional<WorldState>& start, int num_threads,
             std::string_view mode, int max_tapes)
      : world(of) {
    if (size > 10'000'000) throw InputError("size", "must be at most 10000000, got " + std::to_string(size));
    if (start) require_state(*of.world, *start);
    batch = std::make_unique<Batch>(*of.world, start ? start->value : of.start, size,
                                    BatchOptions{num_threads, read_gradient_mode(mode), max_tapes});
    batch->set_watch([last = std::chrono::steady_clock::now()]() mutable {
      const auto now = std::chrono::steady_clock::now();
      if (now - last < std::chrono::milliseconds(50)) return;
      last = now;
      answer_signals();
    });
  }
  [[nodiscard]] std::size_t n() const { return static_cast<std::size_t>(batch->size()); }
  [[nodiscard]] std::size_t nq() const { return static_cast<std::size_t>(batch->world().nq()); }
  [[nodiscard]] std::size_t nv() const { return static_cast<std::size_t>(batch->world().nv()); }
  [[nodiscard]] std::size_t nu() const { return static_cast<std::size_t>(batch->world().nu()); }
};

/// The batch for one caller, without the interpreter's lock.
class Turn {
 public:
  explicit Turn(const OwnedBatch& owned) : busy_(*owned.busy) {
    if (busy_.exchange(true)) throw InputError("batch", "is in use by another thread");
    unlocked_.emplace();
  }
  ~Turn() {
    busy_ = false;
    unlocked_.reset();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::atomic<bool>& busy_;
  std::optional<nb::gil_scoped_release> unlocked_;
};

/// Numbers of the shape `shape` as a block of their own; one number is for all, and a missing first axis (the batch)
/// repeats.
std::vector<double> read_block(const Numbers& numbers, const char* name, const std::vector<std::size_t>& shape) {
  std::size_t size = 1;
  std::string text;
  for (const std::size_t n : shape) {
    size *= n;
    text += (text.empty() ? "(" : ", ") + std::to_string(n);
  }
  text += ")";
  const Doubles read(numbers, name);
  if (read.rank() == 0) return std::vector<double>(size, read.data()[0]);
  const bool whole = read.rank() == static_cast<int>(shape.size());
  bool fits = whole || read.rank() + 1 == static_cast<int>(shape.size());
  for (int axis = 0; fits && axis < read.rank(); ++axis)
    fits = read.extent(axis) == static_cast<Py_ssize_t>(shape[axis + (whole ? 0 : 1)]);
  if (!fits) throw InputError(name, "must have the shape " + text + ", got " + read.shape());
  std::vector<double> out;
  out.reserve(size);
  const auto count = static_cast<std::size_t>(read.size());
  for (std::size_t copy = 0; copy < (whole ? 1 : shape.front()); ++copy)
    out.insert(out.end(), read.data(), read.data() + count);
  return out;
}

/// (T, n, nu), or (T, nu) for all worlds alike.
std::vector<double> read_controls(const OwnedBatch& b, const Numbers& u, int& num_steps) {
  const Doubles read(u, "u");
  const auto nu = static_cast<Py_ssize_t>(b.nu());
  const auto n = static_cast<Py_ssize_t>(b.n());
  if (read.rank() == 3 && read.extent(1) == n && read.extent(2) == nu) {
    num_steps = static_cast<int>(read.extent(0));
    return {read.data(), read.data() + read.size()};
  }
  if (read.rank() == 2 && read.extent(1) == nu) {
    num_steps = static_cast<int>(read.extent(0));
    std::vector<double> out;
    for (Py_ssize_t t = 0; t < read.extent(0); ++t)
      for (Py_ssize_t i = 0; i < n; ++i) out.insert(out.end(), read.data() + t * nu, read.data() + (t + 1) * nu);
    return out;
  }
  throw InputError("u", "must have the shape (steps, " + std::to_string(n) + ", " + std::to_string(nu) +
                            ") or (steps, " + std::to_string(nu) + "), got " + read.shape());
}

std::span<double> block_of(double* data, std::size_t size) { return {data, size}; }

Array batch_states(const OwnedBatch& b) {
  double* to = nullptr;
  Array out = empty_array({b.n(), b.nq() + b.nv()}, to);
  for (std::size_t i = 0; i < b.n(); ++i) {
    to = std::copy_n(b.batch->q().data() + i * b.nq(), b.nq(), to);
    to = std::copy_n(b.batch->v().data() + i * b.nv(), b.nv(), to);
  }
  return out;
}

void set_batch_states(OwnedBatch& b, const Numbers& states) {
  const std::vector<double> read = read_block(states, "states", {b.n(), b.nq() + b.nv()});
  for (std::size_t i = 0; i < b.n(); ++i) {
    const double* from = read.data() + i * (b.nq() + b.nv());
    std::copy_n(from, b.nq(), b.batch->q().data() + i * b.nq());
    std::copy_n(from + b.nq(), b.nv(), b.batch->v().data() + i * b.nv());
  }
}

/// States with quaternions of length 1.
std::vector<double> read_states(const OwnedBatch& b, const Numbers& states) {
  std::vector<double> out = read_block(states, "states", {b.n(), b.nq() + b.nv()});
  for (std::size_t i = 0; i < b.n(); ++i)
    normalize(b.world.model(),
              Eigen::Map<VectorX>(out.data() + i * (b.nq() + b.nv()), static_cast<Eigen::Index>(b.nq())));
  return out;
}

void set_parameters(OwnedBatch& b, const nb::object& names, const Numbers& values) {
  const bool single = nb::isinstance<nb::str>(names);
  const auto list =
      single ? std::vector<std::string>{nb::cast<std::string>(names)} : nb::cast<std::vector<std::string>>(names);
  const std::vector<StepParameter> parameters = read_parameters(*b.world.world, list);
  std::vector<double> numbers =
      single ? read_block(values, "values", {b.n()}) : read_block(values, "values", {b.n(), list.size()});
  const Turn turn(b);
  b.has_parameters = true;
  b.batch->set_parameters(parameters, numbers);
}

void batch_reset(OwnedBatch& b, const std::optional<Numbers>& which) {
  if (!which) {
    b.batch->reset();
    return;
  }
  std::vector<int> indices;
  const Doubles read(*which, "which");
  nb::object dtype = nb::getattr(which->object, "dtype", nb::none());
  const bool mask = !dtype.is_none() && nb::cast<std::string>(nb::str(dtype)) == "bool";
  if (mask && read.size() != static_cast<Py_ssize_t>(b.n()))
    throw InputError("which", "must have one entry a world where it is a mask");
  for (Py_ssize_t k = 0; k < read.size(); ++k) {
    const double x = read.data()[k];
    if (mask) {
      if (x != 0.0) indices.push_back(static_cast<int>(k));
    } else {
      if (!(x >= 0.0 && x < static_cast<double>(b.n()) && x == std::floor(x)))
        throw InputError("which", "must be indices from 0 to " + std::to_string(b.n() - 1) + ", or a mask");
      indices.push_back(static_cast<int>(x));
    }
  }
  b.batch->reset(indices);
}

nb::tuple batch_linearize(OwnedBatch& b, const Numbers& states, const Numbers& u) {
  const std::vector<double> x = read_states(b, states);
  const std::vector<double> controls = read_block(u, "u", {b.n(), b.nu()});
  double* next = nullptr;
  double* A = nullptr;
  double* B = nullptr;
  Array next_out = empty_array({b.n(), b.nq() + b.nv()}, next);
  Array A_out = empty_array({b.n(), 2 * b.nv(), 2 * b.nv()}, A);
  Array B_out = empty_array({b.n(), 2 * b.nv(), b.nu()}, B);
  {
    const Turn turn(b);
    b.batch->linearize(x, controls, block_of(next, x.size()), block_of(A, b.n() * 4 * b.nv() * b.nv()),
                       block_of(B, b.n() * 2 * b.nv() * b.nu()));
  }
  return nb::make_tuple(next_out, A_out, B_out);
}

Array batch_rollout(OwnedBatch& b, const Numbers& u, const std::optional<Numbers>& states) {
  int num_steps = 0;
  const std::vector<double> controls = read_controls(b, u, num_steps);
  const std::vector<double> x = states ? read_states(b, *states) : read_states(b, {batch_states(b).object});
  double* to = nullptr;
  const auto blocks = static_cast<std::size_t>(num_steps) + 1;
  Array out = empty_array({blocks, b.n(), b.nq() + b.nv()}, to);
  {
    const Turn turn(b);
    b.batch->rollout(x, controls, num_steps, block_of(to, blocks * x.size()));
  }
  return out;
}

nb::tuple batch_rollout_vjp(OwnedBatch& b, const Numbers& states, const Numbers& u, const Numbers& gradients) {
  int num_steps = 0;
  const std::vector<double> controls = read_controls(b, u, num_steps);
  const std::vector<double> x = read_states(b, states);
  const auto steps = static_cast<std::size_t>(num_steps);
  const std::vector<double> g = read_block(gradients, "gradients", {steps + 1, b.n(), 2 * b.nv()});
  double* g_states = nullptr;
  double* g_controls = nullptr;
  Array g_states_out = empty_array({b.n(), 2 * b.nv()}, g_states);
  Array g_controls_out = empty_array({steps, b.n(), b.nu()}, g_controls);
  {
    const Turn turn(b);
    b.batch->rollout_vjp(x, controls, num_steps, g, block_of(g_states, b.n() * 2 * b.nv()),
                         block_of(g_controls, steps * b.n() * b.nu()));
  }
  return nb::make_tuple(g_states_out, g_controls_out);
}

/// Rows of a map between tangents and numbers of states: v and its tangent are the same.
Array map_states(const OwnedBatch& b, const Numbers& states, const Numbers& rows, TangentMap map) {
  const Model& model = b.world.model();
  const std::size_t nx = b.nq() + b.nv();
  const bool to_q = map == TangentMap::to_rates || map == TangentMap::gradient_from_tangent;
  const std::size_t width_in = to_q ? 2 * b.nv() : nx;
  const std::size_t width_out = to_q ? nx : 2 * b.nv();
  const Doubles x(states, "states");
  const Doubles in(rows, "rows");
  const auto fits = [](const Doubles& d, std::size_t width) {
    return d.rank() == 2 && d.extent(1) == static_cast<Py_ssize_t>(width);
  };
  if (!fits(x, nx) || !fits(in, width_in) || x.extent(0) != in.extent(0))
    throw InputError("rows", "must have the shapes (n, " + std::to_string(nx) + ") and (n, " +
                                 std::to_string(width_in) + "), got " + x.shape() + " and " + in.shape());
  const auto n = static_cast<std::size_t>(x.extent(0));
  double* to = nullptr;
  Array out = empty_array({n, width_out}, to);
  using In = Eigen::Map<const VectorX>;
  const auto nq = static_cast<Eigen::Index>(b.nq());
  const auto nv = static_cast<Eigen::Index>(b.nv());
  for (std::size_t i = 0; i < n; ++i) {
    const double* row = in.data() + i * width_in;
    double* at = to + i * width_out;
    map_tangent(model, In(x.data() + i * nx, nq), map, In(row, to_q ? nv : nq),
                Eigen::Map<VectorX>(at, to_q ? nq : nv));
    std::copy_n(row + (to_q ? nv : nq), nv, at + (to_q ? nq : nv));
  }
  return out;
}

void bind_world_batch(nb::module_& m) {
  using B = OwnedBatch;
  nb::class_<B> c(m, "Batch",
                  "Many copies of a world, each with a state and, if wanted, parameters of its own. Steps use all "
                  "threads; what a world does is the same, bit for bit, with any number of them. `step`, `record` and "
                  "the derivatives of what was recorded move and look at the live states; `rollout`, `rollout_vjp` and "
                  "`linearize` are functions of their arguments.");
  c.def(nb::init<const SharedWorld&, int, const std::optional<WorldState>&, int, std::string_view, int>(), "world"_a,
        "size"_a, "start"_a = nb::none(), nb::kw_only(), "num_threads"_a = 0, "mode"_a = "exact", "max_tapes"_a = 64,
        "All in `start` (the world's default state). `num_threads` 0: as many as the machine has.")
      .def("__len__", [](const B& b) { return b.n(); })
      .def_prop_ro(
          "world", [](const B& b) { return b.world; }, "The world it was made from.")
      .def(
          "world_at",
          [](const B& b, long i) {
            const int at = checked_index(i, b.batch->size(), "index");
            SharedWorld out = b.world;
            if (&b.batch->world(at) == &b.batch->world(0) && !b.has_parameters) return out;
            out.world = std::make_shared<const World>(b.batch->world(at));
            out.memory = std::make_shared<Pool<StepMemory>>();
            return out;
          },
          "index"_a, "One of the worlds, with its parameters.")
      .def_prop_ro(
          "num_threads", [](const B& b) { return b.batch->num_threads(); }, "That work.")
      .def_prop_rw(
          "q",
          [](const nb::handle_t<B>& b) {
            B& self = ready<B>(b);
            return view_array({self.n(), self.nq()}, self.batch->q().data(), b);
          },
          [](B& b, const Numbers& q) {
            const auto read = read_block(q, "q", {b.n(), b.nq()});
            std::copy(read.begin(), read.end(), b.batch->q().begin());
          },
          "The live configurations, (n, nq): an array that can be written to.")
      .def_prop_rw(
          "v",
          [](const nb::handle_t<B>& b) {
            B& self = ready<B>(b);
            return view_array({self.n(), self.nv()}, self.batch->v().data(), b);
          },
          [](B& b, const Numbers& v) {
            const auto read = read_block(v, "v", {b.n(), b.nv()});
            std::copy(read.begin(), read.end(), b.batch->v().begin());
          },
          "The live velocities, (n, nv): an array that can be written to.")
      .def_prop_rw("states", batch_states, set_batch_states, "A copy of q and v beside each other, (n, nq + nv).")
      .def_prop_ro(
          "statuses",
          [](const B& b) {
            std::vector<std::string> out;
            for (const StepStatus status : b.batch->statuses()) out.emplace_back(status_name(status));
            return out;
          },
          "Of the last step, one a world.")
      .def(
          "index",
          [](const B& b, const std::string& name) {
            const Model& model = b.world.model();
            for (int v = 0; v < model.nv(); ++v)
              if (model.dof_name(v) == name) {
                for (const Joint& joint : model.joints())
                  if (v >= joint.first_v && v < joint.first_v + joint.nv) return joint.first_q + (v - joint.first_v);
              }
            throw InputError("name", "no coordinate is named '" + name + "'; Model.dof_names has them");
          },
          "name"_a, "The column of `states` of a coordinate by its name (Model.dof_names).")
      .def("set", set_parameters, "names"_a, "values"_a,
           "Parameters of each world: one name and (n,) values, or a list of k names and (n, k).")
      .def("reset", batch_reset, "which"_a = nb::none(), "Back to the start: all, indices, or a mask (n,).")
      .def(
          "step",
          [](B& b, const Numbers& u) {
            const auto controls = read_block(u, "u", {b.n(), b.nu()});
            const Turn turn(b);
            b.batch->step(controls);
          },
          "u"_a = 0.0, "Moves all by one time step. `u`: (n, nu), (nu,) for all, or one number.")
      .def(
          "record",
          [](B& b, const Numbers& u) {
            const auto controls = read_block(u, "u", {b.n(), b.nu()});
            const Turn turn(b);
            b.batch->record(controls);
          },
          "u"_a = 0.0, "A step that keeps what derivatives need.")
      .def(
          "jacobians",
          [](B& b) {
            double* A = nullptr;
            double* G = nullptr;
            Array A_out = empty_array({b.n(), 2 * b.nv(), 2 * b.nv()}, A);
            Array G_out = empty_array({b.n(), 2 * b.nv(), b.nu()}, G);
            {
              const Turn turn(b);
              b.batch->jacobians(block_of(A, b.n() * 4 * b.nv() * b.nv()), block_of(G, b.n() * 2 * b.nv() * b.nu()));
            }
            return nb::make_tuple(A_out, G_out);
          },
          "Of the recorded step: A (n, 2 nv, 2 nv) and B (n, 2 nv, nu).")
      .def(
          "vjp",
          [](B& b, const Numbers& g) {
            const auto g_next = read_block(g, "g", {b.n(), 2 * b.nv()});
            double* g_x = nullptr;
            double* g_u = nullptr;
            Array g_x_out = empty_array({b.n(), 2 * b.nv()}, g_x);
            Array g_u_out = empty_array({b.n(), b.nu()}, g_u);
            {
              const Turn turn(b);
              b.batch->vjp(g_next, block_of(g_x, b.n() * 2 * b.nv()), block_of(g_u, b.n() * b.nu()));
            }
            return nb::make_tuple(g_x_out, g_u_out);
          },
          "g"_a, "Of the recorded step: from gradients in the next states, (n, 2 nv), to those in states and controls.")
      .def(
          "jvp",
          [](B& b, const Numbers& d, const Numbers& du) {
            const auto d_x = read_block(d, "d", {b.n(), 2 * b.nv()});
            const auto d_u = read_block(du, "du", {b.n(), b.nu()});
            double* to = nullptr;
            Array out = empty_array({b.n(), 2 * b.nv()}, to);
            {
              const Turn turn(b);
              b.batch->jvp(d_x, d_u, block_of(to, b.n() * 2 * b.nv()));
            }
            return out;
          },
          "d"_a, "du"_a = 0.0, "Of the recorded step: how next states move, (n, 2 nv).")
      .def("rollout", batch_rollout, "u"_a, "states"_a = nb::none(),
           "All states, (steps + 1, n, nq + nv), from `states` (the live ones), with controls (steps, n, nu) or "
           "(steps, nu) for all. Quaternions are normalised first.")
      .def("rollout_vjp", batch_rollout_vjp, "states"_a, "u"_a, "gradients"_a,
           "From gradients in all states, (steps + 1, n, 2 nv), to those in the first, (n, 2 nv), and in all controls, "
           "(steps, n, nu).")
      .def("linearize", batch_linearize, "states"_a, "u"_a = 0.0,
           "One step from `states` with its Jacobians: next (n, nq + nv), A (n, 2 nv, 2 nv), B (n, 2 nv, nu).")
      .def(
          "tangent_to_rates",
          [](const B& b, const Numbers& x, const Numbers& d) { return map_states(b, x, d, TangentMap::to_rates); },
          "states"_a, "tangents"_a, "From tangents (n, 2 nv) to rates of the numbers in states, (n, nq + nv).")
      .def(
          "rates_to_tangent",
          [](const B& b, const Numbers& x, const Numbers& d) { return map_states(b, x, d, TangentMap::from_rates); },
          "states"_a, "rates"_a, "From rates of the numbers in states to tangents.")
      .def(
          "gradient_to_tangent",
          [](const B& b, const Numbers& x, const Numbers& g) {
            return map_states(b, x, g, TangentMap::gradient_to_tangent);
          },
          "states"_a, "gradients"_a, "From gradients in the numbers of states to those in tangents.")
      .def(
          "gradient_from_tangent",
          [](const B& b, const Numbers& x, const Numbers& g) {
            return map_states(b, x, g, TangentMap::gradient_from_tangent);
          },
          "states"_a, "gradients"_a,
          "From gradients in tangents to those in the numbers of states, of functions that normalise quaternions.")
      .def("__repr__", [](const B& b) {
        return "Batch('" + b.world.model().name() + "', size=" + std::to_string(b.n()) +
               ", num_threads=" + std::to_string(b.batch->num_threads()) + ")";
      });
}

// pairs

/// Shapes by index, and poses: one a query.
struct Pairs {
  std::vector<Shape> shapes;
  std::vector<PosedPair> pairs;
};

std::vector<Pose> read_poses(const Numbers& numbers, const char* name) {
  const Doubles read(numbers, name);
  if (read.rank() != 2 || (read.extent(1) != 7 && read.extent(1) != 3))
    throw InputError(name,
                     "must have the shape (n, 7): position and quaternion x y z w, or (n, 3); got " + read.shape());
  const auto width = read.extent(1);
  std::vector<Pose> out;
  out.reserve(static_cast<std::size_t>(read.extent(0)));
  for (Py_ssize_t i = 0; i < read.extent(0); ++i) {
    const double* x = read.data() + i * width;
    try {
      out.push_back(width == 3 ? Pose::translation({x[0], x[1], x[2]})
                               : Pose::from_quaternion({x[0], x[1], x[2]}, x[3], x[4], x[5], x[6]));
    } catch (const InputError& error) {
      throw InputError(std::string(name) + "[" + std::to_string(i) + "]." + error.field(), error.reason());
    }
  }
  return out;
}

std::vector<int> read_indices(const Numbers& numbers, const char* name, std::size_t count, std::size_t limit) {
  const Doubles read(numbers, name);
  if (read.rank() > 1 || (read.rank() == 1 && read.size() != static_cast<Py_ssize_t>(count)))
    throw InputError(name, "must be one index or have the shape (" + std::to_string(count) + ",), got " + read.shape());
  std::vector<int> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double x = read.data()[read.rank() == 0 ? 0 : i];
    if (!(x >= 0.0 && x < static_cast<double>(limit) && x == std::floor(x)))
      throw InputError(
          name, "must be indices into shapes, from 0 to " + std::to_string(limit - 1) + ", got " + std::to_string(x));
    out[i] = static_cast<int>(x);
  }
  return out;
}

Pairs read_pairs(const std::vector<Shape>& shapes, const Numbers& A, const Numbers& X_WA, const Numbers& B,
                 const Numbers& X_WB) {
  if (shapes.empty()) throw InputError("shapes", "must not be empty");
  const std::vector<Pose> poses_A = read_poses(X_WA, "X_WA");
  const std::vector<Pose> poses_B = read_poses(X_WB, "X_WB");
  const std::size_t n = std::max(poses_A.size(), poses_B.size());
  if ((poses_A.size() != n && poses_A.size() != 1) || (poses_B.size() != n && poses_B.size() != 1))
    throw InputError("X_WB", "must have as many rows as X_WA, or one of them one row");
  const std::vector<int> index_A = read_indices(A, "A", n, shapes.size());
  const std::vector<int> index_B = read_indices(B, "B", n, shapes.size());
  Pairs out{shapes, {}};
  out.pairs.reserve(n);
  for (std::size_t i = 0; i < n; ++i)
    out.pairs.push_back({&out.shapes[index_A[i]], poses_A[poses_A.size() == 1 ? 0 : i], &out.shapes[index_B[i]],
                         poses_B[poses_B.size() == 1 ? 0 : i]});
  return out;
}

/// One for all calls of a thread count; made anew in a forked process, where the threads of the old one are gone.
BatchWorkspace& pair_workspace(int num_threads) {
  struct Kept {
    pid_t process = 0;
    int num_threads = 0;
    std::unique_ptr<BatchWorkspace> workspace;
  };
  thread_local Kept kept;
  if (kept.workspace != nullptr && kept.process != getpid()) (void)kept.workspace.release();
  if (kept.workspace == nullptr || kept.num_threads != num_threads) {
    if (num_threads < 0 || num_threads > 1024)
      throw InputError("num_threads", "must be from 0 to 1024, got " + std::to_string(num_threads));
    kept = {getpid(), num_threads, std::make_unique<BatchWorkspace>(num_threads)};
  }
  return *kept.workspace;
}

template <class Answer>
Array column(const std::vector<Answer>& answers, Vector3 Answer::*field) {
  double* to = nullptr;
  Array out = empty_array({answers.size(), 3}, to);
  for (const Answer& answer : answers) to = std::copy_n((answer.*field).data(), 3, to);
  return out;
}

template <class Answer>
Array column(const std::vector<Answer>& answers, double Answer::*field) {
  double* to = nullptr;
  Array out = empty_array({answers.size()}, to);
  for (const Answer& answer : answers) *to++ = answer.*field;
  return out;
}

Array gradient_rows(const std::vector<Vector12>& gradients) {
  double* to = nullptr;
  Array out = empty_array({gradients.size(), 12}, to);
  for (const Vector12& g : gradients) to = std::copy_n(g.data(), 12, to);
  return out;
}

template <class Answer, class Run>
nb::dict answer_pairs(const Pairs& pairs, bool gradients, double Answer::*value, const char* value_name,
                      const Run& run) {
  std::vector<Answer> answers(pairs.pairs.size());
  std::vector<Vector12> rows(gradients ? pairs.pairs.size() : 0);
  {
    const nb::gil_scoped_release unlocked;
    run(answers, rows);
  }
  nb::dict out;
  out[value_name] = column(answers, value);
  out["normal"] = column(answers, &Answer::normal);
  out["p_A"] = column(answers, &Answer::p_A);
  out["p_B"] = column(answers, &Answer::p_B);
  nb::list statuses;
  for (const Answer& answer : answers) statuses.append(std::string(to_string(answer.status)));
  out["status"] = statuses;
  if (gradients) out["gradient"] = gradient_rows(rows);
  return out;
}

}  // namespace

void bind_pair_batch(nb::module_& m) {
  m.def(
      "scaling_batch",
      [](const std::vector<Shape>& shapes, const Numbers& A, const Numbers& X_WA, const Numbers& B, const Numbers& X_WB,
         bool gradients, double tolerance, double smoothing, int num_threads) {
        const Pairs pairs = read_pairs(shapes, A, X_WA, B, X_WB);
        BatchWorkspace& workspace = pair_workspace(num_threads);
        const ScalingOptions options{.tolerance = tolerance, .smoothing = smoothing};
        return answer_pairs<Scaling>(pairs, gradients, &Scaling::alpha, "alpha", [&](auto& answers, auto& rows) {
          scaling_batch(pairs.pairs, options, answers, workspace, rows);
        });
      },
      "shapes"_a, "A"_a, "X_WA"_a, "B"_a, "X_WB"_a, nb::kw_only(), "gradients"_a = false,
      "tolerance"_a = ScalingOptions{}.tolerance, "smoothing"_a = 0.0, "num_threads"_a = 0,
      "`scaling` of many pairs over threads: A and B are indices into `shapes` (n,) or one for all, poses (n, 7) or "
      "(1, "
      "7). A dict of arrays: alpha, normal, p_A, p_B, status and, if asked for, gradient (n, 12).");
  m.def(
      "distance_batch",
      [](const std::vector<Shape>& shapes, const Numbers& A, const Numbers& X_WA, const Numbers& B, const Numbers& X_WB,
         bool gradients, double tolerance, int num_threads) {
        const Pairs pairs = read_pairs(shapes, A, X_WA, B, X_WB);
        BatchWorkspace& workspace = pair_workspace(num_threads);
        return answer_pairs<Distance>(
            pairs, gradients, &Distance::distance, "distance", [&](auto& answers, auto& rows) {
              distance_batch(pairs.pairs, DistanceOptions{tolerance}, answers, workspace, rows);
            });
      },
      "shapes"_a, "A"_a, "X_WA"_a, "B"_a, "X_WB"_a, nb::kw_only(), "gradients"_a = false,
      "tolerance"_a = DistanceOptions{}.tolerance, "num_threads"_a = 0,
      "`distance` of many pairs over threads, as scaling_batch: a dict with distance, normal, p_A, p_B, status, "
      "gradient.");
}

/// Seconds a call of work(), in a loop of `count` that no Python is in: what bench/python.py compares with.
template <class Work>
double timed(int count, const Work& work) {
  if (count < 1) throw InputError("count", "must be at least 1");
  work();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / count;
}

void bind_timers(nb::module_& m) {
  m.def(
      "_timed_scaling",
      [](const Shape& A, const PoseLike& X_WA, const Shape& B, const PoseLike& X_WB, int count) {
        ScalingWorkspace workspace;
        const Pose X_A = read_pose(X_WA, "X_WA");
        const Pose X_B = read_pose(X_WB, "X_WB");
        return timed(count, [&] { (void)scaling(A, X_A, B, X_B, {}, workspace); });
      },
      "A"_a, "X_WA"_a, "B"_a, "X_WB"_a, "count"_a, "Seconds a query in C++, for bench/python.py.");
  m.def(
      "_timed_step",
      [](const SharedWorld& s, const WorldState& x, int count) {
        require_state(*s.world, x);
        Workspace workspace(*s.world);
        State next;
        const VectorX u = VectorX::Zero(s.world->nu());
        return timed(count, [&] {
          workspace.restore(x.warm);
          (void)step(*s.world, x.value, u, workspace, next);
        });
      },
      "world"_a, "x"_a, "count"_a, "Seconds a step in C++, for bench/python.py.");
}

void bind_batch(nb::module_& m) {
  bind_world_batch(m);
  bind_timers(m);
}

}  // namespace tangere::python
