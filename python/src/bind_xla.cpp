/// Steps and pair queries as custom calls of XLA, for tangere.jax. They run in XLA's threads without the interpreter
/// and never call back into XLA; large batches use threads of their own.
///
/// Leading axes of all buffers are the batch; numbers are float32 or float64, and computed with in float64. Derivatives
/// are in the numbers of states, x = (q, v):
///
///   dx' = T(q') A T⁺(q) dx + T(q') B du
///
/// with the maps T of multibody/tangent_map.hpp and A, B of the step in tangents.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <list>
#include <mutex>

#include <xla/ffi/api/ffi.h>

#include "python/src/world.hpp"
#include "tangere/multibody/tangent_map.hpp"
#include "tangere/proximity/batch.hpp"
#include "tangere/sim/batch.hpp"

namespace tangere::python {
namespace {

using nb::literals::operator""_a;
namespace ffi = xla::ffi;

using Buffer = ffi::AnyBuffer;
using Out = ffi::Result<ffi::AnyBuffer>;
using Rows = Eigen::Map<const RowMatrix>;

/// Things with a size, lent to one call at a time.
template <class T>
class SizedPool {
 public:
  template <class Make>
  [[nodiscard]] std::unique_ptr<T> take(std::size_t size, const Make& make) {
    {
      const std::lock_guard lock(mutex_);
      const auto at = std::find_if(idle_.begin(), idle_.end(), [&](const Entry& entry) { return entry.size == size; });
      if (at != idle_.end()) {
        std::unique_ptr<T> found = std::move(at->object);
        idle_.erase(at);
        return found;
      }
    }
    return make();
  }
  void give_back(std::size_t size, std::unique_ptr<T> object) {
    std::list<Entry> dropped;
    const std::lock_guard lock(mutex_);
    idle_.push_front({size, std::move(object)});
    if (idle_.size() > kMostIdle) dropped.splice(dropped.begin(), idle_, std::prev(idle_.end()));
  }

 private:
  struct Entry {
    std::size_t size = 0;
    std::unique_ptr<T> object;
  };
  static constexpr std::size_t kMostIdle = 8;
  std::mutex mutex_;
  std::list<Entry> idle_;
};

/// A world that compiled functions step.
struct SteppedWorld {
  SharedWorld world;
  BatchOptions options;
  SizedPool<Batch> batches;

  [[nodiscard]] std::size_t nq() const { return static_cast<std::size_t>(world.world->nq()); }
  [[nodiscard]] std::size_t nv() const { return static_cast<std::size_t>(world.world->nv()); }
  [[nodiscard]] std::size_t nx() const { return nq() + nv(); }
  [[nodiscard]] std::size_t nu() const { return static_cast<std::size_t>(world.world->nu()); }
};

/// Two shapes that compiled functions query.
struct QueriedPair {
  Shape A;
  Shape B;
  bool is_distance = false;
  SizedPool<BatchWorkspace> workspaces;
};

/// Objects that compiled functions name by a number. They stay until the end: nobody says when XLA forgets a function.
template <class T>
class Registry {
 public:
  std::int64_t add(std::unique_ptr<T> entry) {
    const std::lock_guard lock(mutex_);
    entries_.push_back(std::move(entry));
    return static_cast<std::int64_t>(entries_.size()) - 1;
  }
  [[nodiscard]] T& at(std::int64_t number) {
    const std::lock_guard lock(mutex_);
    if (number < 0 || number >= static_cast<std::int64_t>(entries_.size()))
      throw InputError("number", "is none that tangere.jax has given in this process");
    return *entries_[static_cast<std::size_t>(number)];
  }
  template <class Test>
  [[nodiscard]] std::int64_t find(const Test& test) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < entries_.size(); ++i)
      if (test(*entries_[i])) return static_cast<std::int64_t>(i);
    return -1;
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> entries_;
};

/// Never destroyed: threads of XLA may outlive the module.
template <class T>
Registry<T>& registry() {
  static auto* const all = new Registry<T>();
  return *all;
}

std::vector<double> read(const Buffer& buffer, const char* name) {
  const std::size_t n = buffer.element_count();
  if (buffer.element_type() == ffi::DataType::F64) {
    const auto* data = static_cast<const double*>(buffer.untyped_data());
    return {data, data + n};
  }
  if (buffer.element_type() != ffi::DataType::F32) throw InputError(name, "must be float32 or float64");
  const auto* data = static_cast<const float*>(buffer.untyped_data());
  return {data, data + n};
}

void write(const std::vector<double>& numbers, Out& out) {
  if (out->element_count() != numbers.size())
    throw InputError("result", "must have " + std::to_string(numbers.size()) + " numbers, got " +
                                   std::to_string(out->element_count()));
  if (out->element_type() == ffi::DataType::F64)
    std::copy(numbers.begin(), numbers.end(), static_cast<double*>(out->untyped_data()));
  else if (out->element_type() == ffi::DataType::F32)
    std::transform(numbers.begin(), numbers.end(), static_cast<float*>(out->untyped_data()),
                   [](double x) { return static_cast<float>(x); });
  else
    throw InputError("result", "must be float32 or float64");
}

void require_count(const char* name, std::size_t count, std::size_t wanted) {
  if (count != wanted)
    throw InputError(name, "must have " + std::to_string(wanted) + " numbers, got " + std::to_string(count));
}

/// Errors on their way to XLA.
template <class Work>
ffi::Error guarded(const Work& work) {
  try {
    work();
    return ffi::Error::Success();
  } catch (const InputError& error) {
    return ffi::Error::InvalidArgument(error.what());
  } catch (const std::exception& error) {
    return ffi::Error::Internal(error.what());
  }
}

/// task(batch) with a batch of n worlds.
template <class Task>
void with_batch(SteppedWorld& w, std::size_t n, const Task& task) {
  if (n == 0) return;
  auto batch = w.batches.take(n, [&] {
    BatchOptions options = w.options;
    if (n == 1) options.num_threads = 1;
    return std::make_unique<Batch>(*w.world.world, w.world.start, static_cast<int>(n), options);
  });
  task(*batch);
  w.batches.give_back(n, std::move(batch));
}

void normalize_states(const SteppedWorld& w, std::vector<double>& x) {
  const auto nq = static_cast<Eigen::Index>(w.nq());
  for (std::size_t at = 0; at < x.size(); at += w.nx()) normalize(w.world.model(), Eigen::Map<VectorX>(&x[at], nq));
}

bool all_finite(const std::vector<double>& x) {
  return std::all_of(x.begin(), x.end(), [](double value) { return std::isfinite(value); });
}

/// States (…, steps + 1, nx) from x (…, nx) and u (…, steps, nu). What is not finite stays so.
std::vector<double> run(SteppedWorld& w, std::vector<double> x, const std::vector<double>& u, std::size_t steps) {
  const std::size_t n = x.size() / w.nx();
  const std::size_t nu = w.nu();
  const std::size_t nx = w.nx();
  require_count("u", u.size(), n * steps * nu);
  std::vector<double> out((steps + 1) * x.size(), std::nan(""));
  if (!all_finite(x) || !all_finite(u)) return out;
  normalize_states(w, x);
  // a batch has the worlds of a step beside each other
  std::vector<double> controls(u.size());
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t t = 0; t < steps; ++t)
      std::copy_n(&u[0] + (i * steps + t) * nu, nu, &controls[0] + (t * n + i) * nu);
  std::vector<double> states(out.size());
  with_batch(w, n, [&](Batch& batch) { batch.rollout(x, controls, static_cast<int>(steps), states); });
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t t = 0; t <= steps; ++t)
      std::copy_n(&states[(t * n + i) * nx], nx, &out[(i * (steps + 1) + t) * nx]);
  return out;
}

ffi::Error step_call(std::int64_t world, Buffer x, Buffer u, Out next) {
  return guarded([&] {
    SteppedWorld& w = registry<SteppedWorld>().at(world);
    const std::vector<double> states = run(w, read(x, "x"), read(u, "u"), 1);
    std::vector<double> last(states.size() / 2);
    for (std::size_t at = 0; at < last.size(); at += w.nx()) std::copy_n(&states[2 * at + w.nx()], w.nx(), &last[at]);
    write(last, next);
  });
}

ffi::Error rollout_call(std::int64_t world, Buffer x, Buffer u, Out states) {
  return guarded([&] {
    SteppedWorld& w = registry<SteppedWorld>().at(world);
    const std::size_t wanted = x.element_count() + (w.nu() == 0 ? 0 : u.element_count() / w.nu() * w.nx());
    const std::size_t steps = x.element_count() == 0 ? 0 : states->element_count() / x.element_count() - 1;
    if (w.nu() > 0) require_count("states", states->element_count(), wanted);
    const std::vector<double> start = read(x, "x");
    std::vector<double> all = run(w, start, read(u, "u"), steps);
    // the first state is the argument as it is, not with its quaternions normalised
    for (std::size_t at = 0; at < start.size(); at += w.nx()) std::copy_n(&start[at], w.nx(), &all[at * (steps + 1)]);
    write(all, states);
  });
}

/// Jacobians in the numbers of a state from those in tangents: T(q') A T⁺(q) and T(q') B.
struct NumberJacobians {
  const SteppedWorld& w;
  MatrixX rows;
  VectorX column;

  explicit NumberJacobians(const SteppedWorld& of) : w(of) {}

  void make(const double* x, const double* next, const Rows& A, const Rows& B, double* A_out, double* B_out) {
    const Model& model = w.world.model();
    const auto nq = static_cast<Eigen::Index>(w.nq());
    const auto nv = static_cast<Eigen::Index>(w.nv());
    const auto nx = static_cast<Eigen::Index>(w.nx());
    const auto nu = static_cast<Eigen::Index>(w.nu());
    const VectorX q = Eigen::Map<const VectorX>(x, nq);
    const VectorX q_next = Eigen::Map<const VectorX>(next, nq);
    rows.resize(2 * nv, nx);
    rows.rightCols(nv) = A.rightCols(nv);
    column.resize(nq);
    for (Eigen::Index i = 0; i < 2 * nv; ++i) {
      const VectorX row = A.row(i).head(nv);
      map_tangent(model, q, TangentMap::gradient_from_tangent, row, column);
      rows.row(i).head(nq) = column;
    }
    Eigen::Map<RowMatrix> to_A(A_out, nx, nx);
    Eigen::Map<RowMatrix> to_B(B_out, nx, nu);
    to_A.bottomRows(nv) = rows.bottomRows(nv);
    to_B.bottomRows(nv) = B.bottomRows(nv);
    const auto rates = [&](const VectorX& tangent) -> const VectorX& {
      map_tangent(model, q_next, TangentMap::to_rates, tangent, column);
      return column;
    };
    for (Eigen::Index j = 0; j < nx; ++j) to_A.col(j).head(nq) = rates(rows.col(j).head(nv));
    for (Eigen::Index j = 0; j < nu; ++j) to_B.col(j).head(nq) = rates(B.col(j).head(nv));
  }
};

ffi::Error linearize_call(std::int64_t world, Buffer x_in, Buffer u_in, Out next_out, Out A_out, Out B_out) {
  return guarded([&] {
    SteppedWorld& w = registry<SteppedWorld>().at(world);
    const std::vector<double> given = read(x_in, "x");
    const std::vector<double> u = read(u_in, "u");
    const std::size_t n = given.size() / w.nx();
    const std::size_t nt = 2 * w.nv();
    require_count("u", u.size(), n * w.nu());
    std::vector<double> next(given.size(), std::nan(""));
    std::vector<double> A(n * w.nx() * w.nx(), std::nan(""));
    std::vector<double> B(n * w.nx() * w.nu(), std::nan(""));
    if (all_finite(given) && all_finite(u)) {
      std::vector<double> x = given;
      normalize_states(w, x);
      std::vector<double> A_t(n * nt * nt);
      std::vector<double> B_t(n * nt * w.nu());
      with_batch(w, n, [&](Batch& batch) { batch.linearize(x, u, next, A_t, B_t); });
      NumberJacobians numbers(w);
      const auto rows = static_cast<Eigen::Index>(nt);
      for (std::size_t i = 0; i < n; ++i)
        numbers.make(&given[i * w.nx()], &next[i * w.nx()], Rows(A_t.data() + i * nt * nt, rows, rows),
                     Rows(B_t.data() + i * nt * w.nu(), rows, static_cast<Eigen::Index>(w.nu())),
                     A.data() + i * w.nx() * w.nx(), B.data() + i * w.nx() * w.nu());
    }
    write(next, next_out);
    write(A, A_out);
    write(B, B_out);
  });
}

/// The pose at position and quaternion, which is normalised; one of length 0 is refused.
Pose pose_at(const double* x) {
  const Eigen::Vector4d quaternion(x[3], x[4], x[5], x[6]);
  const double length = quaternion.norm();
  if (!(length > 0.0)) throw InputError("quaternion", "must not have the length 0");
  return Pose::from_quaternion({x[0], x[1], x[2]}, x[3] / length, x[4] / length, x[5] / length, x[6] / length);
}

/// A gradient in a pose's tangent as one in its position and quaternion, of what normalises the quaternion.
void write_pose_gradient(const double* pose, const double* tangent, double* to) {
  const Eigen::Vector4d quaternion(pose[3], pose[4], pose[5], pose[6]);
  const double length = quaternion.norm();
  const Eigen::Vector4d unit = quaternion / length;
  const Vector3 turn = Vector3(tangent[3], tangent[4], tangent[5]) * (2.0 / length);
  std::copy_n(tangent, 3, to);
  const Vector3 v = unit.head<3>();
  // of q ⊗ (φ / 2, 1): d (vector part) = w φ + v × φ, d (scalar part) = -v · φ
  const Vector3 vector_part = unit[3] * turn + v.cross(turn);
  std::copy_n(vector_part.data(), 3, to + 3);
  to[6] = -v.dot(turn);
}

struct PairAnswers {
  std::vector<double> values;
  std::vector<Vector12> gradients;
};

PairAnswers ask_pairs(QueriedPair& pair, const std::vector<double>& X_A, const std::vector<double>& X_B,
                      bool gradients) {
  require_count("X_B", X_B.size(), X_A.size());
  if (X_A.size() % 7 != 0) throw InputError("X_A", "must have 7 numbers a pose");
  const std::size_t n = X_A.size() / 7;
  PairAnswers out;
  out.values.assign(n, std::nan(""));
  out.gradients.assign(gradients ? n : 0, Vector12::Constant(std::nan("")));
  if (!all_finite(X_A) || !all_finite(X_B)) return out;
  std::vector<PosedPair> pairs;
  for (std::size_t i = 0; i < n; ++i) pairs.push_back({&pair.A, pose_at(&X_A[7 * i]), &pair.B, pose_at(&X_B[7 * i])});
  // few pairs are asked faster than threads are woken
  const std::size_t num_threads = n < 64 ? 1 : 0;
  auto workspace = pair.workspaces.take(
      num_threads, [&] { return std::make_unique<BatchWorkspace>(static_cast<int>(num_threads)); });
  if (pair.is_distance) {
    std::vector<Distance> answers(n);
    distance_batch(pairs, {}, answers, *workspace, out.gradients);
    for (std::size_t i = 0; i < n; ++i) out.values[i] = answers[i].distance;
  } else {
    std::vector<Scaling> answers(n);
    scaling_batch(pairs, {}, answers, *workspace, out.gradients);
    for (std::size_t i = 0; i < n; ++i) out.values[i] = answers[i].alpha;
  }
  pair.workspaces.give_back(num_threads, std::move(workspace));
  return out;
}

ffi::Error pair_call(std::int64_t number, Buffer X_A, Buffer X_B, Out value) {
  return guarded([&] {
    write(ask_pairs(registry<QueriedPair>().at(number), read(X_A, "X_A"), read(X_B, "X_B"), false).values, value);
  });
}

ffi::Error pair_gradient_call(std::int64_t number, Buffer X_A, Buffer X_B, Out value, Out g_A, Out g_B) {
  return guarded([&] {
    const std::vector<double> a = read(X_A, "X_A");
    const std::vector<double> b = read(X_B, "X_B");
    const PairAnswers answers = ask_pairs(registry<QueriedPair>().at(number), a, b, true);
    std::vector<double> to_A(a.size());
    std::vector<double> to_B(b.size());
    for (std::size_t i = 0; i < answers.values.size(); ++i) {
      write_pose_gradient(&a[7 * i], answers.gradients[i].data(), &to_A[7 * i]);
      write_pose_gradient(&b[7 * i], answers.gradients[i].data() + 6, &to_B[7 * i]);
    }
    write(answers.values, value);
    write(to_A, g_A);
    write(to_B, g_B);
  });
}

XLA_FFI_DEFINE_HANDLER(kStep, step_call,
                       ffi::Ffi::Bind().Attr<std::int64_t>("number").Arg<Buffer>().Arg<Buffer>().Ret<Buffer>());
XLA_FFI_DEFINE_HANDLER(kRollout, rollout_call,
                       ffi::Ffi::Bind().Attr<std::int64_t>("number").Arg<Buffer>().Arg<Buffer>().Ret<Buffer>());
XLA_FFI_DEFINE_HANDLER(kLinearize, linearize_call,
                       ffi::Ffi::Bind()
                           .Attr<std::int64_t>("number")
                           .Arg<Buffer>()
                           .Arg<Buffer>()
                           .Ret<Buffer>()
                           .Ret<Buffer>()
                           .Ret<Buffer>());
XLA_FFI_DEFINE_HANDLER(kPair, pair_call,
                       ffi::Ffi::Bind().Attr<std::int64_t>("number").Arg<Buffer>().Arg<Buffer>().Ret<Buffer>());
XLA_FFI_DEFINE_HANDLER(kPairGradient, pair_gradient_call,
                       ffi::Ffi::Bind()
                           .Attr<std::int64_t>("number")
                           .Arg<Buffer>()
                           .Arg<Buffer>()
                           .Ret<Buffer>()
                           .Ret<Buffer>()
                           .Ret<Buffer>());

std::int64_t register_world(const SharedWorld& world, std::string_view mode, int num_threads) {
  const BatchOptions options{.num_threads = num_threads, .gradient_mode = read_gradient_mode(mode)};
  options.verify();
  const std::int64_t known = registry<SteppedWorld>().find([&](const SteppedWorld& w) {
    return w.world.world == world.world && w.options.gradient_mode == options.gradient_mode &&
           w.options.num_threads == num_threads;
  });
  if (known >= 0) return known;
  auto entry = std::make_unique<SteppedWorld>();
  entry->world = world;
  entry->options = options;
  return registry<SteppedWorld>().add(std::move(entry));
}

std::int64_t register_pair(const Shape& A, const Shape& B, bool is_distance) {
  return registry<QueriedPair>().add(std::unique_ptr<QueriedPair>(new QueriedPair{A, B, is_distance, {}}));
}

}  // namespace

void bind_xla(nb::module_& m) {
  nb::dict targets;
  const auto add = [&](const char* name, auto* handler) {
    targets[name] = nb::capsule(reinterpret_cast<void*>(handler));  // NOLINT: XLA takes functions so
  };
  add("tangere_step", kStep);
  add("tangere_rollout", kRollout);
  add("tangere_linearize", kLinearize);
  add("tangere_pair", kPair);
  add("tangere_pair_gradient", kPairGradient);
  m.attr("_xla_targets") = targets;
  m.def("_xla_world", register_world, "world"_a, "mode"_a, "num_threads"_a, "The number of a world for tangere.jax.");
  m.def("_xla_pair", register_pair, "A"_a, "B"_a, "is_distance"_a, "The number of a pair for tangere.jax.");
}

}  // namespace tangere::python
