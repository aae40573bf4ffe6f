#include "tangere/proximity/scaling/pair_program.hpp"

#include <algorithm>
#include <cmath>

namespace tangere {
namespace {

std::size_t rounded(int n) { return static_cast<std::size_t>((n + 7) / 8 * 8); }

void load_vec(Vec4& v, const Vector3& p, double alpha) { v = Vec4{p.x(), p.y(), p.z(), alpha}; }

/// The smallest alpha with m + alpha t in the cone, t in its interior.
double cone_gauge(Vec4 m, Vec4 t) {
  const Vec4 J{1, -1, -1, -1};
  const double a = sum(t * J * t);
  const double b = sum(t * J * m);
  const double c = sum(m * J * m);
  return (std::sqrt(std::max(b * b - a * c, 0.0)) - b) / a;
}

}  // namespace

void TurnedRows::reserve(const ConicRowsView& rows) {
  const std::size_t size = rounded(5 * rows.padded_orthant) + rounded(4 * rows.num_orthant) +
                           rounded((36 + 4 * rows.num_aux) * rows.num_cones);
  if (memory_.size() < size) memory_.resize(size);
}

ConicRowsView TurnedRows::turn(const ConicRowsView& rows, const Matrix3& R, const Vector3& d) {
  ConicRowsView out = rows;
  // of the unturned rows
  out.aux_start = nullptr;
  double* next = memory_.data();
  const int mp = rows.padded_orthant;

  // orthant, by columns
  double* columns = next;
  double* offset = columns + 4 * mp;
  for (int i = 0; i < mp; i += 4) {
    const Vec4 a = load4(rows.orthant_u + i);
    const Vec4 b = load4(rows.orthant_u + mp + i);
    const Vec4 c = load4(rows.orthant_u + 2 * mp + i);
    Vec4 shift = load4(rows.orthant_offset + i);
    for (int k = 0; k < 3; ++k) {
      const Vec4 column = a * R(k, 0) + b * R(k, 1) + c * R(k, 2);
      store4(columns + k * mp + i, column);
      shift -= column * d[k];
    }
    store4(columns + 3 * mp + i, load4(rows.orthant_u + 3 * mp + i));
    store4(offset + i, shift);
  }
  next += rounded(5 * mp);

  // orthant, by rows
  const Vec4 r0{R(0, 0), R(1, 0), R(2, 0), 0.0};
  const Vec4 r1{R(0, 1), R(1, 1), R(2, 1), 0.0};
  const Vec4 r2{R(0, 2), R(1, 2), R(2, 2), 0.0};
  const Vec4 r3{0.0, 0.0, 0.0, 1.0};
  const auto turn = [&](Vec4 row) { return row[0] * r0 + row[1] * r1 + row[2] * r2 + row[3] * r3; };
  for (int i = 0; i < rows.num_orthant; ++i) store4(next + 4 * i, turn(load4(rows.orthant_rows_u + 4 * i)));
  out.orthant_u = columns;
  out.orthant_offset = offset;
  out.orthant_rows_u = next;
  next += rounded(4 * rows.num_orthant);

  // cones and their forms
  double* cone_u = next;
  double* cone_offset = cone_u + 16 * rows.num_cones;
  double* form_uu = cone_offset + 4 * rows.num_cones;
  double* form_yu = form_uu + 16 * rows.num_cones;
  for (int k = 0; k < rows.num_cones; ++k) {
    const double* in = rows.cone_u + 16 * k;
    Vec4 shift = load4(rows.cone_offset + 4 * k);
    for (int a = 0; a < 3; ++a) {
      const Vec4 column = load4(in) * R(a, 0) + load4(in + 4) * R(a, 1) + load4(in + 8) * R(a, 2);
      store4(cone_u + 16 * k + 4 * a, column);
      shift -= column * d[a];
    }
    store4(cone_u + 16 * k + 12, load4(in + 12));
    store4(cone_offset + 4 * k, shift);
    // form' = T form Tᵀ with T = diag(R, 1): turn the rows, then the columns
    const double* form = rows.form_uu + 16 * k;
    Vec4 half[4];
    for (int a = 0; a < 4; ++a) half[a] = turn(load4(form + 4 * a));
    for (int a = 0; a < 3; ++a)
      store4(form_uu + 16 * k + 4 * a, half[0] * R(a, 0) + half[1] * R(a, 1) + half[2] * R(a, 2));
    store4(form_uu + 16 * k + 12, half[3]);
    for (int j = 0; j < rows.num_aux; ++j) {
      const int at = 4 * (rows.num_aux * k + j);
      store4(form_yu + at, turn(load4(rows.form_yu + at)));
    }
  }
  out.cone_u = cone_u;
  out.cone_offset = cone_offset;
  out.form_uu = form_uu;
  out.form_yu = form_yu;
  return out;
}

double start_gauge(const ConvexSet& set, const Vector3& p) {
  const ConicRowsView& rows = set.start_rows.view();
  Vec4 worst{};
  const int mp = rows.padded_orthant;
  for (int i = 0; i < rows.padded_orthant; i += 4) {
    const double* c = rows.orthant_u + i;
    const Vec4 m = load4(c) * p[0] + load4(c + mp) * p[1] + load4(c + 2 * mp) * p[2];
    worst = max(worst, -m / (load4(c + 3 * mp) + 1e-300));
  }
  double gauge = largest(worst);
  for (int k = 0; k < rows.num_cones; ++k) {
    const double* c = rows.cone_u + 16 * k;
    gauge = std::max(gauge, cone_gauge(load4(c) * p[0] + load4(c + 4) * p[1] + load4(c + 8) * p[2], load4(c + 12)));
  }
  return gauge;
}

void PairProgram::reserve(const ConvexSet& A, const ConvexSet& B) {
  storage[0].reserve(A.rows.view());
  storage[1].reserve(B.rows.view());
  turned.reserve(B.rows.view());
}

bool PairProgram::set_up(const ConvexSet& A, const ConvexSet& B, const Pose& X) {
  X_AB = X;
  const Vector3& d = X.p;
  engine.num_blocks = 2;
  engine.cost = Vec4{0, 0, 0, 1};
  engine.consistent = true;

  // start on the centre line, half as large again as needed there
  Vector3 x;
  double alpha;
  const Vector3 d_B = X.R.transpose() * -d;
  if (A.scaled && B.scaled) {
    if (d.squaredNorm() < 1e-300) return false;
    const double gauge_a = start_gauge(A, d);
    const double gauge_b = start_gauge(B, d_B);
    const double t = gauge_b / (gauge_a + gauge_b);
    x = t * d;
    alpha = 1.5 * t * gauge_a;
  } else {
    // against a half-space: a fifth beyond the plane
    const ConvexSet& plane = A.scaled ? B : A;
    const Vector3 center = A.scaled ? d_B : d;  // the other's centre in the frame of the half-space
    const Vec4 row = load4(plane.rows.view().orthant_rows_u);
    const double slack =
        plane.rows.view().orthant_offset[0] + row[0] * center[0] + row[1] * center[1] + row[2] * center[2];
    if (slack >= 0.0) return false;
    const Vector3 inward = Vector3(row[0], row[1], row[2]) * (-1.2 * slack);
    if (A.scaled) {
      x = X.R * inward;
      alpha = 1.5 * start_gauge(A, x);
    } else {
      x = d + inward;
      alpha = 1.5 * start_gauge(B, X.R.transpose() * inward);
    }
  }
  load_vec(engine.u, x, alpha);
  engine.dual_scale = Vec4{d.norm(), d.norm(), d.norm(), alpha};
  engine.dual_scale_y = d.norm();

  // auxiliaries and slacks
  const auto start_aux = [&](const ConvexSet& set, double* y, const Vector3& p) {
    for (int j = 0; j < set.rows.num_aux(); ++j) {
      y[j] = set.aux_start(j, 0) * p[0] + set.aux_start(j, 1) * p[1] + set.aux_start(j, 2) * p[2] +
             set.aux_start(j, 3) * alpha;
    }
  };
  storage[0].bind(A.rows.view(), engine.blocks[0]);
  storage[1].bind(turned.turn(B.rows.view(), X.R, d), engine.blocks[1]);
  start_aux(A, engine.blocks[0].y, x);
  start_aux(B, engine.blocks[1].y, X.R.transpose() * (x - d));

  // z = mu s⁻¹ with mu such that the dual holds along the start: Σ (S_alpha + S_y aux_start_alpha)ᵀ z = 1
  double weight = 0.0;
  const ConvexSet* sets[2] = {&A, &B};
  for (int side = 0; side < 2; ++side) {
    ConicBlock<1>& block = engine.blocks[side];
    const ConicRowsView& start = sets[side]->start_rows.view();
    ConicEngine<1>::on(block, [&](ConicBlock<1>& b, auto operations) { operations.evaluate(b, engine.u); });
    Vec4 products{};
    for (int i = 0; i < block.rows.padded_orthant; i += 4) {
      const Vec4 inverse = 1.0 / load4(block.s + i);
      store4(block.z + i, inverse);
      products += inverse * load4(start.orthant_u + 3 * start.padded_orthant + i);
    }
    weight += sum(products);
    for (int k = 0; k < block.rows.num_cones; ++k) {
      ConeState<1>& cone = block.cones[k];
      cone.z = (1.0 / det(cone.s)) * reflect(cone.s);
      weight += dot(cone.z.v[0], load4(start.cone_u + 16 * k + 12));
    }
  }
  const double mu = 1.0 / weight;
  for (ConicBlock<1>& block : engine.blocks) {
    for (int i = 0; i < block.rows.padded_orthant; i += 4) store4(block.z + i, mu * load4(block.z + i));
    for (int i = block.rows.num_orthant; i < block.rows.padded_orthant; ++i) block.z[i] = 0.0;
    for (int k = 0; k < block.rows.num_cones; ++k) block.cones[k].z = mu * block.cones[k].z;
  }
  engine.gap = mu * engine.degree();
  return true;
}

}  // namespace tangere
