/// Derivatives of the minimum scaling by the implicit function theorem on the optimality conditions at the solution.
///
/// In the frame of A, with s = S_u (u) + …, u = (x, alpha), f = S_pᵀ z the force of a block and p its lever (x for A, x
/// - d for B), moving a body by (δr, φ) acts as if its rows saw u + δ̃,  δ̃ = (p × φ - δr, 0), and turns its force by φ ×
/// f. With H_A, H_B the linearised rows (auxiliaries eliminated) and s ∘ z = kappa alpha e,
///
///   (H_A + H_B - e_alpha e_alphaᵀ [kappa > 0] / alpha) du = (φ_A × f_A + φ_B × f_B, 0) - H_A δ̃_A - H_B δ̃_B
///
/// For a parameter θ: H du = (∂S/∂θ)ᵀ z - Sᵀ M (∂S/∂θ)(p, alpha, y, 1), with M = L(s)⁻¹ L(z).
/// Without smoothing, alpha's derivative needs no solve: dα = -zᵀ ds at fixed (u, y) (the envelope theorem).

#include "tangere/proximity/scaling_derivatives.hpp"

#include <cmath>
#include <cstring>

#include "tangere/math/error.hpp"
#include "tangere/proximity/scaling_workspace.hpp"

namespace tangere {
namespace {

/// Exact Jacobians are taken at relaxations in this range, or solved again to this tolerance: above, what all but acts
/// shows in them, below, rounding.
constexpr double kLeastKappa = 1e-13;
constexpr double kMostKappa = 1e-11;
constexpr double kLinearisedAt = 1e-10;

Vector3 head3(Vec4 v) { return {v[0], v[1], v[2]}; }

// vectors of three in short ones, the last entry of no meaning

Vec4 short3(const Vector3& v) { return Vec4{v[0], v[1], v[2], 0.0}; }
void store3(double* to, Vec4 v) { std::memcpy(to, &v, 3 * sizeof(double)); }
Vec4 cross3(Vec4 a, Vec4 b) {
  const Vec4 turned = a * __builtin_shufflevector(b, b, 1, 2, 0, 3) - b * __builtin_shufflevector(a, a, 1, 2, 0, 3);
  return __builtin_shufflevector(turned, turned, 1, 2, 0, 3);
}

/// A rotation by its columns.
struct Turn {
  explicit Turn(const Matrix3& R) : columns{short3(R.col(0)), short3(R.col(1)), short3(R.col(2))} {}
  [[nodiscard]] Vec4 operator()(Vec4 v) const { return columns[0] * v[0] + columns[1] * v[1] + columns[2] * v[2]; }
  Vec4 columns[3];
};

ScalingWorkspace::Data& queried(ScalingWorkspace& workspace) {
  ScalingWorkspace::Data& data = workspace.data();
  if (!data.has_query) throw InputError("workspace", "holds no query yet: call scaling first");
  return data;
}

/// A row over the tangents of the parts' poses as one over those of the whole shapes' poses. Nothing to do for convex
/// shapes.
template <class Row>
void to_whole(const Pose& X_AP, const Pose& X_BP, const ScalingWorkspace::Data& data, Row&& row) {
  const auto body = [&](int at, const Pose& X_WS, const Pose& X_SP) {
    const Vector3 linear = row.template segment<3>(at).transpose();
    const Vector3 angular = row.template segment<3>(at + 3).transpose();
    row.template segment<3>(at + 3) = (X_SP.p.cross(X_WS.R.transpose() * linear) + X_SP.R * angular).transpose();
  };
  body(0, data.X_WA, X_AP);
  body(6, data.X_WB, X_BP);
}

/// All rows of a Jacobian.
void to_whole(const SolvedPair& pair, const ScalingWorkspace::Data& data, ScalingJacobian& jacobian) {
  if (!data.has_bundle) return;
  const Pose& X_AP = pair.part_A.X_SP;
  const Pose& X_BP = pair.part_B.X_SP;
  for (int i = 0; i < 4; ++i) to_whole(X_AP, X_BP, data, jacobian.x_alpha.row(i));
  for (int i = 0; i < 3; ++i) {
    to_whole(X_AP, X_BP, data, jacobian.p_A.row(i));
    to_whole(X_AP, X_BP, data, jacobian.p_B.row(i));
  }
}

/// A row over the tangents of two poses: δr_A, φ_A, δr_B, φ_B.
struct PoseRow {
  PoseRow(Vec4 move_A, Vec4 turn_A, Vec4 move_B, Vec4 turn_B) : parts{move_A, turn_A, move_B, turn_B} {}
  explicit PoseRow(const Vector12& row)
      : PoseRow(short3(row.segment<3>(0)), short3(row.segment<3>(3)), short3(row.segment<3>(6)),
                short3(row.segment<3>(9))) {}
  void store(double* to) const {
    for (int k = 0; k < 4; ++k) store3(to + 3 * k, parts[k]);
  }
  Vec4 parts[4];
};

/// How the point of a shape where it touches moves, from how x and alpha do.
class Witness {
 public:
  /// `lever` is from the shape's centre to x, `own` the part of a row that moves the shape.
  Witness(const ConvexSet& set, double alpha, Vec4 lever, int own)
      : inverse_(set.scaled ? 1.0 / alpha : 1.0),
        weights_(set.scaled ? inverse_ * inverse_ * lever : Vec4{}),
        own_(own) {}
  [[nodiscard]] PoseRow row(int i, const PoseRow& d_x, const PoseRow& d_alpha, Vec4 unit) const {
    PoseRow out = d_x;
    for (int k = 0; k < 4; ++k) out.parts[k] = inverse_ * d_x.parts[k] - weights_[i] * d_alpha.parts[k];
    out.parts[own_] += (1.0 - inverse_) * unit;
    return out;
  }

 private:
  double inverse_;
  Vec4 weights_;
  int own_;
};

/// dα from x and the forces.
PoseRow wrench_row(const Pose& X_WA, const Pose& X_AB, Vec4 u, Vec4 force_A, Vec4 force_B) {
  const Vec4 n = 0.5 * (force_B - force_A);
  const Vec4 n_W = Turn(X_WA.R)(n);
  return {-n_W, cross3(n, u), n_W, Turn(X_AB.R.transpose())(cross3(u - short3(X_AB.p), n))};
}

/// dα / d(poses of the parts) without smoothing.
Vector12 part_gradient(const SolvedPair& pair) {
  const ConicEngine<1>& engine = pair.program.engine;
  const bool zero = pair.status == ScalingStatus::zero_scaling;
  if (zero && !(pair.part_A.set->scaled && pair.part_B.set->scaled)) return Vector12::Zero();
  Vector12 g = wrench_gradient(pair.X_WA, pair.program.X_AB,
                               {.u = engine.u,
                                .force_A = engine.force[0],
                                .force_B = engine.force[1],
                                .gap = engine.gap,
                                .dual_residual = engine.dual_residual,
                                .iterations = engine.iterations});
  if (zero) {
    g.segment<3>(3).setZero();
    g.segment<3>(9).setZero();
  }
  return g;
}

/// The same from the support route: n at x.
Vector12 part_gradient(const SupportPair& pair) {
  const SupportScaling& found = pair.found;
  Vector12 g;
  g.segment<3>(0) = -found.n;
  g.segment<3>(3) = pair.X_WA.R.transpose() * found.n.cross(found.alpha * found.s_A);
  g.segment<3>(6) = found.n;
  g.segment<3>(9) = pair.X_WB.R.transpose() * (found.alpha * found.s_B).cross(found.n);
  return g;
}

/// At alpha = 0: x and the witness points move with the centres, a half-space's with the centre along its plane and
/// with the plane across.
void zero_jacobian(const SolvedPair& pair, ScalingJacobian& out) {
  const bool scaled_A = pair.part_A.set->scaled;
  const bool scaled_B = pair.part_B.set->scaled;
  out.x_alpha.setZero();
  out.x_alpha.row(3) = part_gradient(pair).transpose();
  out.x_alpha.block<3, 3>(0, scaled_A ? 0 : 6).setIdentity();
  out.p_A.setZero();
  out.p_B.setZero();
  out.p_A.block<3, 3>(0, 0).setIdentity();
  out.p_B.block<3, 3>(0, 6).setIdentity();
  if (!scaled_A || !scaled_B) {
    const Pose& X = scaled_A ? pair.X_WB : pair.X_WA;
    const ConvexSet& plane = scaled_A ? *pair.part_B.set : *pair.part_A.set;
    const Vector3 n = X.R * plane.rows.matrix().row(0).head<3>().transpose();
    const Matrix3 across = n * n.transpose();
    Matrix3x12& foot = scaled_A ? out.p_B : out.p_A;
    foot.block<3, 3>(0, scaled_A ? 6 : 0) = across;
    foot.block<3, 3>(0, scaled_A ? 0 : 6) = Matrix3::Identity() - across;
  }
  out.unique = false;
}

/// (p, alpha, y, 1) of a block in its own frame.
struct RowArguments {
  Vector3 p;
  double alpha;
  const double* y;
  int ny;
  [[nodiscard]] double operator[](int column) const {
    if (column < 3) return p[column];
    if (column == 3) return alpha;
    return column < kShared + ny ? y[column - kShared] : 1.0;
  }
};

RowArguments arguments(const SolvedPair& pair, int k) {
  const ConicEngine<1>& engine = pair.program.engine;
  const Vector3 x = head3(engine.u);
  const Pose& X_AB = pair.program.X_AB;
  const Vector3 p = k == 0 ? x : Vector3(X_AB.R.transpose() * (x - X_AB.p));
  return {p, engine.u[3], engine.blocks[k].y, engine.blocks[k].rows.num_aux};
}

double multiplier(const ConicBlock<1>& b, int row) {
  if (row < b.rows.num_orthant) return b.z[row];
  const int r = row - b.rows.num_orthant;
  return b.cones[r / 4].z.v[0][r % 4];
}

/// du / dθ for every parameter of a part, rows of x in world axes.
void parameter_columns(const SolvedPair& pair, int k, const ConvexPart& part, Eigen::Ref<Matrix4X> out) {
  const ConicEngine<1>& engine = pair.program.engine;
  const ConicBlock<1>& b = engine.blocks[k];
  const RowArguments v = arguments(pair, k);
  const Matrix3 R = k == 0 ? Matrix3(Matrix3::Identity()) : pair.program.X_AB.R;
  const int m = b.rows.num_orthant;
  const int ny = b.rows.num_aux;
  const std::vector<RowDerivative>& list = part.set->derivatives;
  for (std::size_t i = 0; i < list.size();) {
    const int parameter = list[i].parameter;
    Vector3 q_p = Vector3::Zero();
    double q_alpha = 0.0;
    double own[kMaxAux] = {};
    Vec4 shared{};
    // entries of one parameter, row by row; the rows of a cone together
    while (i < list.size() && list[i].parameter == parameter) {
      const bool orthant = list[i].row < m;
      const int group = orthant ? list[i].row : (list[i].row - m) / 4;
      ConeVector<1> change{};
      double change_row = 0.0;
      for (; i < list.size() && list[i].parameter == parameter; ++i) {
        const RowDerivative& d = list[i];
        if ((d.row < m) != orthant || (orthant ? d.row : (d.row - m) / 4) != group) break;
        const double z = multiplier(b, d.row);
        if (d.column < 3) q_p[d.column] += z * d.value;
        if (d.column == 3) q_alpha += z * d.value;
        if (d.column > 3 && d.column < kShared + ny) own[d.column - kShared] += z * d.value;
        if (orthant) {
          change_row += d.value * v[d.column];
        } else {
          change.v[0][(d.row - m) % 4] += d.value * v[d.column];
        }
      }
      // - Sᵀ M change
      if (orthant) {
        const double pulled = b.z[group] / b.s[group] * change_row;
        shared -= pulled * load4(b.rows.orthant_rows_u + kShared * group);
        for (int j = 0; j < ny; ++j) own[j] -= pulled * b.rows.orthant_rows_y[ny * group + j];
      } else {
        const ConeState<1>& cone = b.cones[group];
        const ConeVector<1> pulled = ArrowQuotient<1>(cone.s, cone.z)(change);
        shared -= BlockOperations<1, -1>::cone_transposed_u(b, group, pulled);
        for (int j = 0; j < ny; ++j) own[j] -= BlockOperations<1, -1>::cone_transposed_y(b, group, j, pulled);
      }
    }
    const Vector3 q = R * q_p;
    const Vec4 du = engine.arrow.solve(b, k, shared + Vec4{q[0], q[1], q[2], q_alpha}, own);
    out.col(part.first_parameter + parameter) << pair.X_WA.R * head3(du), du[3];
  }
}

}  // namespace

Vector12 wrench_gradient(const Pose& X_WA, const Pose& X_AB, const ConicPoint& point) {
  Vector12 g;
  wrench_row(X_WA, X_AB, point.u, point.force_A, point.force_B).store(g.data());
  return g;
}

void envelope_gradient(const SolvedPair& pair, int k, const ConvexPart& part, Eigen::Ref<VectorX> out) {
  const RowArguments v = arguments(pair, k);
  for (const RowDerivative& d : part.set->derivatives) {
    out[part.first_parameter + d.parameter] -= multiplier(pair.program.engine.blocks[k], d.row) * d.value * v[d.column];
  }
}

const SolvedPair& ScalingWorkspace::Data::linearised() {
  if (linearised_pair != nullptr) return *linearised_pair;
  (void)conic();
  // at relaxation kappa the conditions are off by kappa, and rounding is amplified to 1e-16 / kappa
  SolvedPair* pair = solved.get();
  const ConicEngine<1>& own = solved->program.engine;
  const double kappa = own.gap / (own.degree() * own.u[3]);
  if (smoothing == 0.0 && (kappa < kLeastKappa || kappa > kMostKappa)) {
    trial->part_A = solved->part_A;
    trial->part_B = solved->part_B;
    trial->X_WA = solved->X_WA;
    trial->X_WB = solved->X_WB;
    solve_pair({.tolerance = kLinearisedAt}, *trial);
    if (trial->status == ScalingStatus::solved) pair = trial.get();
  }
  ConicEngine<1>& engine = pair->program.engine;
  engine.arrow.factor(engine.blocks, engine.num_blocks, smoothing > 0.0 ? 1.0 / engine.u[3] : 0.0);
  linearised_pair = pair;
  return *pair;
}

Vector12 scaling_gradient(ScalingWorkspace& workspace) {
  ScalingWorkspace::Data& data = queried(workspace);
  if (data.by_supports) {
    Vector12 g = part_gradient(data.found);
    if (data.has_bundle) to_whole(data.found.part_A->X_SP, data.found.part_B->X_SP, data, g.transpose());
    return g;
  }
  const SolvedPair& pair = *data.solved;
  if (data.smoothing > 0.0 && pair.status != ScalingStatus::zero_scaling)
    return scaling_jacobian(workspace).x_alpha.row(3).transpose();
  Vector12 g = part_gradient(pair);
  if (data.has_bundle) to_whole(pair.part_A.X_SP, pair.part_B.X_SP, data, g.transpose());
  return g;
}

ScalingJacobian scaling_jacobian(ScalingWorkspace& workspace) {
  ScalingWorkspace::Data& data = queried(workspace);
  const SolvedPair& pair = data.conic();
  ScalingJacobian out;
  if (pair.status == ScalingStatus::zero_scaling) {
    zero_jacobian(pair, out);
    to_whole(pair, data, out);
    return out;
  }
  const SolvedPair& at = data.linearised();
  const ConicEngine<1>& engine = at.program.engine;
  const ConicEngine<1>& own = pair.program.engine;
  const Matrix3& R_WA = pair.X_WA.R;
  const Pose& X_AB = pair.program.X_AB;
  const Vector3 x = head3(engine.u);
  const double alpha = engine.u[3];

  // right-hand sides, row by row: [δr_A | φ_A | δr_B | φ_B], translations in world axes. With h a row of H_A, its
  // product with x × φ is (h × x) · φ; likewise for B with x - d and φ turned by R_AB
  const Turn to_world(R_WA);
  const Turn to_B(X_AB.R.transpose());
  const Vec4 lever_A = short3(x);
  const Vec4 lever_B = short3(x - X_AB.p);
  constexpr Vec4 units[kShared] = {{1.0}, {0.0, 1.0}, {0.0, 0.0, 1.0}, {}};
  Vec4 rows[kShared][3];
  for (int a = 0; a < kShared; ++a) {
    const Vec4 h_A = engine.arrow.reduced(0).row[a];
    const Vec4 h_B = engine.arrow.reduced(1).row[a];
    // and φ × f, row a
    rows[a][0] = to_world(h_A);
    rows[a][1] = cross3(lever_A, h_A) + cross3(engine.force[0], units[a]);
    rows[a][2] = to_B(cross3(lever_B, h_B) + cross3(engine.force[1], units[a]));
  }
  engine.arrow.factors().solve_rows(rows);

  // x in world axes; moving both bodies moves x along, which gives the columns of δr_B
  const auto row_of = [&](int i) -> PoseRow {
    Vec4 v[3];
    for (int c = 0; c < 3; ++c)
      v[c] = i == 3 ? rows[3][c] : R_WA(i, 0) * rows[0][c] + R_WA(i, 1) * rows[1][c] + R_WA(i, 2) * rows[2][c];
    return {v[0], v[1], units[i] - v[0], v[2]};
  };
  const PoseRow d_alpha = data.smoothing > 0.0 ? row_of(3)
                          : data.by_supports   ? PoseRow(part_gradient(data.found))
                                               : wrench_row(pair.X_WA, X_AB, own.u, own.force[0], own.force[1]);
  d_alpha.store(out.x_alpha.data() + 36);

  // witness points: p = r + (x - r) / alpha, or x itself on a half-space
  const Witness on_A(*pair.part_A.set, alpha, to_world(lever_A), 0);
  const Witness on_B(*pair.part_B.set, alpha, to_world(lever_B), 2);
  for (int i = 0; i < 3; ++i) {
    const PoseRow d_x = row_of(i);
    d_x.store(out.x_alpha.data() + 12 * i);
    on_A.row(i, d_x, d_alpha, units[i]).store(out.p_A.data() + 12 * i);
    on_B.row(i, d_x, d_alpha, units[i]).store(out.p_B.data() + 12 * i);
  }
  to_whole(pair, data, out);
  out.unique = data.free.point == 0 && data.free.normal == 0;
  return out;
}

void scaling_parameter_gradient(ScalingWorkspace& workspace, VectorX& d_A, VectorX& d_B) {
  ScalingWorkspace::Data& data = queried(workspace);
  const SolvedPair& pair = data.conic();
  d_A.setZero(data.num_parameters_A);
  d_B.setZero(data.num_parameters_B);
  if (pair.status == ScalingStatus::zero_scaling) return;
  if (data.smoothing > 0.0) {
    scaling_parameter_jacobian(workspace, data.parameter_columns_A, data.parameter_columns_B);
    d_A = data.parameter_columns_A.row(3).transpose();
    d_B = data.parameter_columns_B.row(3).transpose();
    return;
  }
  envelope_gradient(pair, 0, pair.part_A, d_A);
  envelope_gradient(pair, 1, pair.part_B, d_B);
}

void scaling_parameter_jacobian(ScalingWorkspace& workspace, Matrix4X& d_A, Matrix4X& d_B) {
  ScalingWorkspace::Data& data = queried(workspace);
  const SolvedPair& pair = *data.solved;
  d_A.setZero(4, data.num_parameters_A);
  d_B.setZero(4, data.num_parameters_B);
  if (pair.status == ScalingStatus::zero_scaling) return;
  const SolvedPair& at = data.linearised();
  parameter_columns(at, 0, pair.part_A, d_A);
  parameter_columns(at, 1, pair.part_B, d_B);
}

Vector14 quaternion_form(const Vector12& row, const Pose& X_WA, const Pose& X_WB) {
  // φ = 2 Im(q⁻¹ dq)
  const auto rotation = [](const Vector3& g, const Vector4& q) {
    const Vector3 v = q.head<3>();
    const double w = q[3];
    Vector4 out;
    out.head<3>() = 2.0 * (w * g + v.cross(g));
    out[3] = -2.0 * v.dot(g);
    return out;
  };
  Vector14 out;
  out << row.segment<3>(0), rotation(row.segment<3>(3), X_WA.quaternion()), row.segment<3>(6),
      rotation(row.segment<3>(9), X_WB.quaternion());
  return out;
}

}  // namespace tangere
