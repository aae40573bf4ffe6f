#include "tangere/sim/step_diagnosis.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/SVD>

#include "tangere/math/error.hpp"
#include "tangere/multibody/mass_matrix.hpp"
#include "tangere/sim/impact/internal/bounce.hpp"
#include "tangere/sim/internal/step_products.hpp"

namespace tangere {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Singular values below this part of the largest are of rows that repeat others.
constexpr double kDependent = 1e-9;

/// M⁻¹ Jᵀ, a column a row.
MatrixX responses(const Model& model, const Tape& tape, const Data& data) {
  MatrixX out = tape.hard().problem.jacobian(model.nv()).transpose();
  VectorX column;
  for (Eigen::Index r = 0; r < out.cols(); ++r) {
    column = out.col(r);
    solve_mass_matrix(model, data, column);
    out.col(r) = column;
  }
  return out;
}

std::vector<double> margins_of(const Tape& tape, const VectorX& mobility) {
  const auto count = static_cast<std::size_t>(tape.hard().problem.num_rows());
  std::vector<double> out(count, kInfinity);
  double largest = 0.0;
  for (std::size_t r = 0; r < count; ++r)
    largest = std::max(largest, std::abs(tape.hard().f[static_cast<Eigen::Index>(r)]));
  if (largest == 0.0) return out;
  for (std::size_t r = 0; r < count; ++r) {
    const auto row = static_cast<Eigen::Index>(r);
    const BoxedLcpRow& box = tape.hard().problem.boxes[r];
    const double pressing = box.normal < 0 ? 0.0 : tape.hard().f[box.normal];
    if (mobility[row] == 0.0 || (box.normal >= 0 && pressing == 0.0)) continue;
    const double upper = box.normal < 0 ? box.upper : box.friction * pressing;
    const double lower = box.normal < 0 ? box.lower : -upper;
    const double margin = tape.hard().sets[r] == RowSet::clamped
                              ? std::min(tape.hard().f[row] - lower, upper - tape.hard().f[row])
                              : std::abs(tape.hard().w[row]) / mobility[row];
    out[r] = margin / largest;
  }
  return out;
}

/// J_C M⁻¹ N + compliance, N with the friction that follows its normal.
MatrixX clamped_system(const Tape& tape, const MatrixX& A, const std::vector<int>& clamped) {
  const auto count = static_cast<Eigen::Index>(clamped.size());
  MatrixX out(count, count);
  for (Eigen::Index j = 0; j < count; ++j) {
    const int column = clamped[j];
    VectorX response = A.col(column);
    for (std::size_t r = 0; r < tape.hard().sets.size(); ++r) {
      const BoxedLcpRow& box = tape.hard().problem.boxes[r];
      if (box.normal != column || tape.hard().sets[r] == RowSet::clamped) continue;
      response +=
          (tape.hard().sets[r] == RowSet::upper ? box.friction : -box.friction) * A.col(static_cast<Eigen::Index>(r));
    }
    for (Eigen::Index i = 0; i < count; ++i) out(i, j) = response[clamped[i]];
    out(j, j) += tape.hard().problem.boxes[column].compliance;
  }
  return out;
}

/// Largest to smallest.
VectorX scaled_singular_values(const MatrixX& A, const VectorX& diagonal) {
  const VectorX scale = diagonal.cwiseMax(std::numeric_limits<double>::min()).cwiseSqrt().cwiseInverse();
  return Eigen::JacobiSVD<MatrixX>(scale.asDiagonal() * A * scale.asDiagonal()).singularValues();
}

/// How the velocities of all rows less their targets move, whatever their sets: J dv⁺/dx + s_x.
struct VelocityJacobians {
  MatrixX q;
  MatrixX v;
  MatrixX u;
};

VelocityJacobians velocity_jacobians(const World& world, const Tape& tape, HardMemory& m) {
  const int nv = world.nv();
  linearise(world, tape, m);
  m.derivatives.expand(world.model(), m.data);
  const MatrixX v_q = m.derivatives.d_q();
  const MatrixX v_v = m.derivatives.d_v();
  const MatrixX v_tau = m.derivatives.d_tau();
  // s_x is there for clamped rows only: all of them
  m.other_sets.assign(tape.hard().sets.size(), RowSet::clamped);
  SolvedStep step = solved_step(world, tape, m);
  step.sets = m.other_sets;
  m.derivatives.linearise(world.model(), m.data, step, LcpDerivatives::RowUse::all);
  const ContactProblem::JacobianMap J = tape.hard().problem.jacobian(nv);
  VelocityJacobians out{J * v_q + m.derivatives.s_q(), J * v_v + m.derivatives.s_v(), {}};
  out.u.resize(J.rows(), world.nu());
  to_controls(world, m.actuation, MatrixX(J * v_tau), out.u);
  return out;
}

/// Smallest of what is left of the rows' margins over how fast they go.
VectorX reach_of(const Tape& tape, const std::vector<double>& margins, const MatrixX& df, const MatrixX& dw) {
  VectorX out = VectorX::Constant(df.cols(), kInfinity);
  const auto shorten = [&](double left, const auto& rate) {
    for (Eigen::Index k = 0; k < out.size(); ++k)
      if (rate[k] != 0.0) out[k] = std::min(out[k], std::max(0.0, left) / std::abs(rate[k]));
  };
  for (std::size_t r = 0; r < margins.size(); ++r) {
    if (margins[r] == kInfinity) continue;
    const auto row = static_cast<Eigen::Index>(r);
    const BoxedLcpRow& box = tape.hard().problem.boxes[r];
    if (tape.hard().sets[r] != RowSet::clamped) {
      // what keeps it at its bound is w + C f, which matters where other rows hold it
      shorten(std::abs(tape.hard().w[row] + box.compliance * tape.hard().f[row]),
              dw.row(row) + box.compliance * df.row(row));
    } else if (box.normal >= 0) {
      // bounds go with the normal force
      const double most = box.friction * tape.hard().f[box.normal];
      shorten(tape.hard().f[row] + most, df.row(row) + box.friction * df.row(box.normal));
      shorten(most - tape.hard().f[row], df.row(row) - box.friction * df.row(box.normal));
    } else {
      shorten(tape.hard().f[row] - box.lower, df.row(row));
      shorten(box.upper - tape.hard().f[row], df.row(row));
    }
  }
  return out;
}

void set_reach(const World& world, const Tape& tape, HardMemory& m, StepDiagnosis& out) {
  ImpulseJacobians df;
  part_impulses(world, tape, m, df);
  const VelocityJacobians dw = velocity_jacobians(world, tape, m);
  out.reach_q = reach_of(tape, out.margins, df.q, dw.q);
  out.reach_v = reach_of(tape, out.margins, df.v, dw.v);
  out.reach_u = reach_of(tape, out.margins, df.u, dw.u);
}

}  // namespace

StepDiagnosis diagnose_step(const World& world, const Tape& tape, Workspace& workspace, double tie_tolerance) {
  require_tape(world, tape);
  if (world.options().formulation != Formulation::lcp)
    throw InputError("formulation", "a diagnosis is of the rows of hard contact: lcp only");
  HardMemory& m = hard_memory(world, workspace);
  if (!(tie_tolerance >= 0.0)) throw InputError("tie_tolerance", "must be at least 0");
  const bool is_impact = tape.hard().problem.time_step == 0.0 && tape.hard().problem.num_rows() > 0;
  if (is_impact && world.impact_model() == nullptr) throw InputError("tape", "is not of this world: nothing bounces");
  if (is_impact) prepare_impacts(world, m);
  const Model& model = is_impact ? *world.impact_model() : world.model();
  Data& data = is_impact ? *m.impact_data : m.data;
  (void)mass_matrix(model, data, tape.q);
  // what is implicit has no time to act in an impact
  set_implicit_forces(world, world.options().time_step, tape.regions, m.implicit);
  if (is_impact)
    factor_mass_matrix(model, data);
  else
    factor_mass_matrix(model, data, m.implicit.inertia);
  const MatrixX A = tape.hard().problem.jacobian(world.nv()) * responses(model, tape, data);

  StepDiagnosis out;
  out.energy_margin = tape.hard().energy_margin;
  find_rough_contacts(tape, out.rough_contacts);
  out.margins = margins_of(tape, A.diagonal());
  for (std::size_t r = 0; r < out.margins.size(); ++r)
    if (out.margins[r] < tie_tolerance) out.ties.push_back(static_cast<int>(r));
  if (!is_impact) set_reach(world, tape, m, out);
  for (int i = 0; i < tape.num_impacts(); ++i)
    if (tape.hard().events[i].lead < tie_tolerance) out.tied_impacts.push_back(i);

  std::vector<int> clamped;
  for (std::size_t r = 0; r < tape.hard().sets.size(); ++r)
    if (tape.hard().sets[r] == RowSet::clamped) clamped.push_back(static_cast<int>(r));
  out.num_clamped = static_cast<int>(clamped.size());
  if (clamped.empty()) return out;
  const MatrixX rows = A(clamped, clamped);
  const VectorX independent = scaled_singular_values(rows, rows.diagonal());
  out.rank = static_cast<int>((independent.array() > kDependent * independent[0]).count());
  const MatrixX system = clamped_system(tape, A, clamped);
  const VectorX solved = scaled_singular_values(system, rows.diagonal());
  out.condition = solved[0] / solved[solved.size() - 1];
  return out;
}

}  // namespace tangere
