#include "tangere/multibody/data.hpp"

#include <cmath>
#include <limits>

#include "tangere/math/check.hpp"
#include "tangere/math/error.hpp"
#include "tangere/multibody/internal/data_memory.hpp"
#include "tangere/multibody/internal/link_motion.hpp"

namespace tangere {
namespace {

/// One multiplication and one addition per entry, in vector registers: NaN and infinity times zero is NaN.
bool is_finite(VectorArgument x) { return (0.0 * x.array()).sum() == 0.0; }

[[noreturn, gnu::cold]] void fail_not_finite(const std::string& name, VectorArgument x) {
  Eigen::Index i = 0;
  while (std::isfinite(x[i])) ++i;
  throw InputError(name + "[" + std::to_string(i) + "]", "must be finite, got " + internal::to_text(x[i]));
}

}  // namespace

Data::Data(const Model& model) : memory_("Data", std::make_unique<Memory>(model)) {}
Data::~Data() = default;
Data::Data(Data&&) noexcept = default;
Data& Data::operator=(Data&&) noexcept = default;

Data::Memory::Memory(const Model& model) : links(model.shared_links()) {
  const auto n = static_cast<std::size_t>(model.links().size());
  const auto nv = static_cast<std::size_t>(model.nv());
  X.resize(n);
  V.resize(n);
  A.resize(n);
  F.resize(n);
  articulated.resize(n);
  bias.resize(n);
  bias_force.resize(n);
  X_W.resize(n);
  origin.resize(n);
  V_W.resize(n);
  A_W.resize(n);
  composite.resize(n);
  F_W.resize(n);
  wrench_W.resize(n);
  momentum.resize(n);
  coriolis.resize(n);
  S.resize(nv);
  U.resize(nv);
  d.resize(nv);
  u.resize(nv);
  psi_dot.resize(nv);
  psi_dot_dot.resize(nv);
  S_dot_plus.resize(nv);
  body_loads.resize(static_cast<std::size_t>(model.num_bodies()));
  link_loads.resize(n);
  beyond.resize(nv);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (VectorX* vector : {&tau, &bias_tau, &acceleration, &factored_diagonal, &scratch})
    vector->setConstant(model.nv(), nan);
  M_rows = AlignedVector(nv * static_cast<std::size_t>(model.links().stride));
  L_rows = AlignedVector(M_rows.size());
  column_stride = (3 * model.nv() + 7) / 8 * 8;
}

void Data::Memory::need_columns(int nv) {
  columns.resize(static_cast<std::size_t>(nv) * static_cast<std::size_t>(column_stride));
}

Data::Memory& memory_of(const Model& model, Data& data) {
  if (data.memory().links != model.shared_links()) throw InputError("data", "was made for another model");
  return data.memory();
}

const Data::Memory& memory_of(const Model& model, const Data& data) {
  if (data.memory().links != model.shared_links()) throw InputError("data", "was made for another model");
  return data.memory();
}

void require_configuration(const Model& model, VectorArgument q) {
  require_vector("q", q, model.nq());
  for (const int at : model.links().quaternions)
    if (!(q.segment<4>(at).squaredNorm() > 1e-12))
      throw InputError("q", "holds a quaternion (x y z w, from entry " + std::to_string(at) +
                                ") of length zero: see neutral_configuration");
}

void require_vector(const char* name, VectorArgument x, int expected) {
  require_size(name, x.size(), expected);
  if (!is_finite(x)) fail_not_finite(name, x);
}

void require_size(const char* name, Eigen::Index size, int expected) {
  if (size != expected)
    throw InputError(name, "must have " + std::to_string(expected) + " entries, has " + std::to_string(size));
}

void require_wrenches(const Model& model, std::span<const Vector6> wrenches) {
  if (wrenches.empty()) return;
  if (wrenches.size() != static_cast<std::size_t>(model.num_bodies()))
    throw InputError("wrenches", "must be none or one for each of " + std::to_string(model.num_bodies()) +
                                     " bodies, are " + std::to_string(wrenches.size()));
  for (std::size_t b = 0; b < wrenches.size(); ++b)
    if (!is_finite(wrenches[b])) fail_not_finite("wrenches[" + std::to_string(b) + "]", wrenches[b]);
}

void place_links(const Links& tree, const double* q, Data::Memory& m) {
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const Link& link = tree.links[i];
    m.X[i] = link_frame(link, q + link.q);
  }
}

void place_in_world(const Links& tree, Data::Memory& m) {
  m.world_order = 1;
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const Link& link = tree.links[i];
    if (link.parent < 0) {
      m.X_W[i] = m.X[i];
      m.X_W[i].p = Vec4{};
      m.origin[i] = m.X[i].p;
    } else {
      const auto parent = static_cast<std::size_t>(link.parent);
      m.X_W[i] = m.X_W[parent] * m.X[i];
      m.origin[i] = m.origin[parent];
    }
  }
  // from the root's origin to the tree's
  if (tree.has_sliding_roots) {
    for (std::size_t i = 0; i < tree.links.size(); ++i) {
      const auto at = static_cast<std::size_t>(tree.origin_of_link[i]);
      if (at == i) continue;
      m.X_W[i].p -= m.X_W[at].p;
      m.origin[i] += m.X_W[at].p;
    }
    for (std::size_t i = 0; i < tree.links.size(); ++i) {
      if (tree.origin_of_link[i] != static_cast<int>(i)) continue;
      m.origin[i] += m.X_W[i].p;
      m.X_W[i].p = Vec4{};
    }
  }
  for (std::size_t i = 0; i < tree.links.size(); ++i)
    world_columns(tree.links[i], m.X_W[i], m.S.data() + tree.links[i].v);
}

void move_in_world(const Links& tree, const double* v, const double* a, Data::Memory& m) {
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const Link& link = tree.links[i];
    Motion V;
    Motion A{-tree.gravity, Vec4{}};
    if (link.parent >= 0) {
      V = m.V_W[link.parent];
      A = m.A_W[link.parent];
    }
    Motion own;
    for (int k = link.v; k < link.v + link.nv; ++k) own += m.S[k] * v[k];
    V += own;
    m.V_W[i] = V;
    if (a == nullptr) continue;
    A += cross(V, own);
    for (int k = link.v; k < link.v + link.nv; ++k) A += m.S[k] * a[k];
    m.A_W[i] = A;
  }
}

void gather_wrenches(const Links& tree, std::span<const Vector6> wrenches, Data::Memory& m) {
  for (Force& wrench : m.wrench_W) wrench = Force{};
  for (std::size_t b = 0; b < wrenches.size(); ++b) {
    const int link = tree.bodies[b].link;
    if (link < 0) continue;
    const auto i = static_cast<std::size_t>(link);
    const Force about_world = to_force(wrenches[b]);
    m.wrench_W[i] += Force{about_world.f, about_world.n - cross(m.origin[i], about_world.f)};
  }
}

}  // namespace tangere
