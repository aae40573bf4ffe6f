#pragma once

/// One block of conic rows inside the interior point: its slacks and multipliers, its part of the Newton system, and
/// the elimination of its own variables y, so that the outer iteration sees four shared variables only.
///
///   s = S_u u + S_y y + s_0,   c_u = Σ S_uᵀ z,   c_y = S_yᵀ z,   s ∘ z → 0
///
/// With w = z / s on the orthant and W⁻² on a cone, and the step (du, dy), the slack step is ds = S_u du + S_y dy - r,
/// r = s - S_u u - S_y y - s_0, and
///
///   [H_uu H_uy; H_yu H_yy] (du, dy) = -(c_u, c_y) - Sᵀ g + Sᵀ W⁻² r,      dz = -z - W⁻² ds - g
///
/// where g = 0 for the predictor, and g = (correction) - (target) s⁻¹ for the combined step. H_yy = L D Lᵀ is
/// eliminated here. Orthant rows are swept by columns four at a time, or by rows where a row meets all four shared
/// variables at once.

#include <algorithm>
#include <cstddef>

#include "tangere/math/conic_rows.hpp"
#include "tangere/math/vec.hpp"
#include "tangere/solvers/conic/internal/cone_vector.hpp"

namespace tangere {

/// The state of one cone.
template <int C>
struct ConeState {
  ConeVector<C> s;
  ConeVector<C> z;
  ConeVector<C> ds;
  ConeVector<C> dz;
  ConeVector<C> g;
  ConeVector<C> residual;  // s - (S_u u + S_y y + s_0)
  ConeScaling<C> scaling;
};

/// The rows and the state of one block; the arrays live in the workspace.
template <int C>
struct ConicBlock {
  ConicRowsView rows;
  const double* cost_y = nullptr;  // num_aux, or null for zero

  // orthant, padded: padding rows have s = 1, z = 0
  double* s = nullptr;
  double* z = nullptr;
  double* ds = nullptr;
  double* dz = nullptr;
  double* g = nullptr;
  double* weight = nullptr;      // z / s
  double* inverse_sz = nullptr;  // 1 / (s z)
  double* residual = nullptr;    // s - (S_u u + S_y y + s_0)
  ConeState<C>* cones = nullptr;

  // own variables, num_aux each
  double* y = nullptr;
  double* dy = nullptr;
  double* rhs = nullptr;     // right-hand side, forward substituted
  double* factor = nullptr;  // L (unit lower, strict part) of H_yy, row by row
  double* pivot = nullptr;   // 1 / D
  Vec4* coupling = nullptr;  // L⁻¹ H_yu

  [[nodiscard]] int degree() const { return rows.num_orthant + 2 * rows.num_cones; }
};

/// A running 4x4 symmetric matrix by rows.
struct SharedMatrix {
  Vec4 row[kShared];
};

/// NY: number of own variables if known when compiled, else -1.
template <int C, int NY>
struct BlockOperations {
  using Block = ConicBlock<C>;

  static int num_aux(const Block& b) { return NY >= 0 ? NY : b.rows.num_aux; }

  static ConeVector<C> column(const double* columns, int index) {
    ConeVector<C> v;
    for (int k = 0; k < C; ++k) v.v[k] = load4(columns + 4 * (C * index + k));
    return v;
  }

  /// S_u du + S_y dy for cone k.
  static ConeVector<C> cone_product(const Block& b, int k, Vec4 du, const double* dy) {
    const int ny = num_aux(b);
    ConeVector<C> v = du[0] * column(b.rows.cone_u, kShared * k);
    for (int a = 1; a < kShared; ++a) v = v + du[a] * column(b.rows.cone_u, kShared * k + a);
    for (int j = 0; j < ny; ++j) v = v + dy[j] * column(b.rows.cone_y, ny * k + j);
    return v;
  }
  /// S_uᵀ x for cone k.
  static Vec4 cone_transposed_u(const Block& b, int k, const ConeVector<C>& x) {
    Vec4 products[kShared];
    for (int a = 0; a < kShared; ++a) {
      const ConeVector<C> c = column(b.rows.cone_u, kShared * k + a);
      products[a] = c.v[0] * x.v[0];
      for (int i = 1; i < C; ++i) products[a] += c.v[i] * x.v[i];
    }
    return sums(products[0], products[1], products[2], products[3]);
  }
  static double cone_transposed_y(const Block& b, int k, int j, const ConeVector<C>& x) {
    return dot(column(b.rows.cone_y, num_aux(b) * k + j), x);
  }
  /// The orthant's arrays, to be held in registers over a sweep.
  struct Orthant {
    double* s;
    double* z;
    double* ds;
    double* dz;
    double* g;
    const double* weight;
    const double* inverse_sz;
    double* residual;
    explicit Orthant(const Block& b)
        : s(b.s),
          z(b.z),
          ds(b.ds),
          dz(b.dz),
          g(b.g),
          weight(b.weight),
          inverse_sz(b.inverse_sz),
          residual(b.residual) {}
  };

  /// S_u du + S_y dy for four orthant rows at a time: the sweep keeps its pointers and multipliers in registers.
  struct OrthantProduct {
    const double* u;
    const double* y;
    std::ptrdiff_t stride;
    double du[kShared];
    double dy[std::max(NY, 1)];
    const double* dy_any;
    int ny;

    OrthantProduct(const Block& b, Vec4 step_u, const double* step_y)
        : u(b.rows.orthant_u), y(b.rows.orthant_y), stride(b.rows.padded_orthant), dy_any(step_y), ny(num_aux(b)) {
      for (int a = 0; a < kShared; ++a) du[a] = step_u[a];
      if constexpr (NY > 0) {
        for (int j = 0; j < NY; ++j) dy[j] = step_y[j];
      }
    }
    [[nodiscard]] Vec4 operator()(int i) const {
      const double* c = u + i;
      Vec4 v = load4(c) * du[0] + load4(c + stride) * du[1];
      v += load4(c + 2 * stride) * du[2] + load4(c + 3 * stride) * du[3];
      if constexpr (NY > 0) {
        for (int j = 0; j < NY; ++j) v += load4(y + j * stride + i) * dy[j];
      } else if constexpr (NY < 0) {
        for (int j = 0; j < ny; ++j) v += load4(y + j * stride + i) * dy_any[j];
      }
      return v;
    }
  };

  /// s = S_u u + S_y y + s_0.
  static void evaluate(Block& b, Vec4 u) {
    const OrthantProduct product(b, u, b.y);
    for (int i = 0; i < b.rows.padded_orthant; i += 4) store4(b.s + i, product(i) + load4(b.rows.orthant_offset + i));
    for (int k = 0; k < b.rows.num_cones; ++k) {
      b.cones[k].s = cone_product(b, k, u, b.y) + column(b.rows.cone_offset, k);
    }
  }

  /// Scaling at (s, z); H plus the block's Schur complement.
  [[nodiscard]] static SharedMatrix assemble(Block& b, SharedMatrix H) {
    const int ny = num_aux(b);
    Vec4 fixed_coupling[std::max(NY, 1)];
    double fixed_yy[std::max(NY * NY, 1)];
    Vec4* coupling = NY > 0 ? fixed_coupling : b.coupling;
    double* yy = NY > 0 ? fixed_yy : b.factor;
    for (int j = 0; j < ny; ++j) coupling[j] = Vec4{};
    for (int j = 0; j < ny * ny; ++j) yy[j] = 0.0;

    // orthant: Σ w_i row_i row_iᵀ
    const int m = b.rows.num_orthant;
    const double* rows_u = b.rows.orthant_rows_u;
    const double* rows_y = b.rows.orthant_rows_y;
    const double* s_in = b.s;
    const double* z_in = b.z;
    double* inverse_sz = b.inverse_sz;
    double* weight = b.weight;
    for (int i = 0; i < m; i += 4) {
      const Vec4 z = load4(z_in + i);
      const Vec4 inverse = 1.0 / (load4(s_in + i) * z + kTiny);
      store4(inverse_sz + i, inverse);
      store4(weight + i, z * z * inverse);
    }
    for (int i = 0; i < m; ++i, rows_u += kShared, rows_y += ny) {
      const double w = weight[i];
      const Vec4 weighted = w * load4(rows_u);
      for (int a = 0; a < kShared; ++a) H.row[a] += rows_u[a] * weighted;
      for (int j = 0; j < ny; ++j) {
        coupling[j] += rows_y[j] * weighted;
        const double wy = w * rows_y[j];
        for (int l = 0; l <= j; ++l) yy[ny * j + l] += wy * rows_y[l];
      }
    }

    // cones: 2 (Sᵀa)(Sᵀa)ᵀ - ω SᵀJS
    for (int k = 0; k < b.rows.num_cones; ++k) {
      ConeState<C>& cone = b.cones[k];
      cone.scaling = scale_cone(cone.s, cone.z);
      const double omega = cone.scaling.omega;
      const Vec4 t = cone_transposed_u(b, k, cone.scaling.a);
      const Vec4 t2 = 2.0 * t;
      for (int a = 0; a < kShared; ++a) {
        H.row[a] += t[a] * t2 - omega * load4(b.rows.form_uu + kShared * (kShared * k + a));
      }
      double ty[NY > 0 ? NY : kMaxAux];
      for (int j = 0; j < ny; ++j) {
        ty[j] = cone_transposed_y(b, k, j, cone.scaling.a);
        coupling[j] += ty[j] * t2 - omega * load4(b.rows.form_yu + kShared * (ny * k + j));
        for (int l = 0; l <= j; ++l)
          yy[ny * j + l] += 2.0 * ty[j] * ty[l] - omega * b.rows.form_yy[ny * (ny * k + j) + l];
      }
    }

    // eliminate y: H_yy = L D Lᵀ, coupling = L⁻¹ H_yu, H -= couplingᵀ D⁻¹ coupling
    for (int j = 0; j < ny; ++j) {
      double d = yy[ny * j + j];
      const double scale = d;
      for (int l = 0; l < j; ++l) {
        double entry = yy[ny * j + l];
        for (int i = 0; i < l; ++i) entry -= yy[ny * j + i] * yy[ny * l + i];  // yy(j, i) still holds L D
        yy[ny * j + l] = entry;
      }
      for (int l = 0; l < j; ++l) {
        const double lower = yy[ny * j + l] * b.pivot[l];
        d -= lower * yy[ny * j + l];
        coupling[j] -= lower * coupling[l];
        yy[ny * j + l] = lower;
      }
      b.pivot[j] = 1.0 / std::max(d, kPivotFloor * scale);
      const Vec4 scaled = b.pivot[j] * coupling[j];
      for (int a = 0; a < kShared; ++a) H.row[a] -= coupling[j][a] * scaled;
    }
    if constexpr (NY > 0) {
      for (int j = 0; j < ny; ++j) b.coupling[j] = coupling[j];
      for (int j = 0; j < ny * ny; ++j) b.factor[j] = yy[j];
    }
    return H;
  }

  /// Forward substitution of the own right-hand side (in `rhs`); returns what it takes off the shared one.
  static Vec4 reduce_rhs(Block& b) {
    const int ny = num_aux(b);
    Vec4 reduction{};
    for (int j = 0; j < ny; ++j) {
      for (int l = 0; l < j; ++l) b.rhs[j] -= b.factor[ny * j + l] * b.rhs[l];
      reduction += (b.rhs[j] * b.pivot[j]) * b.coupling[j];
    }
    return reduction;
  }
  /// dy from du.
  static void back_substitute(Block& b, Vec4 du) {
    const int ny = num_aux(b);
    for (int j = ny - 1; j >= 0; --j) {
      double value = (b.rhs[j] - dot(b.coupling[j], du)) * b.pivot[j];
      for (int l = j + 1; l < ny; ++l) value -= b.factor[ny * l + j] * b.dy[l];
      b.dy[j] = value;
    }
  }

  /// Sᵀ x, x being `orthant` and a member of the cones; the own part is subtracted from `rhs`, the shared part
  /// returned.
  static Vec4 transposed(Block& b, const double* orthant, ConeVector<C> ConeState<C>::*member) {
    const int ny = num_aux(b);
    double* rhs = b.rhs;
    Vec4 shared{};
    for (int i = 0; i < b.rows.num_orthant; ++i) {
      shared += orthant[i] * load4(b.rows.orthant_rows_u + kShared * i);
      for (int j = 0; j < ny; ++j) rhs[j] -= orthant[i] * b.rows.orthant_rows_y[ny * i + j];
    }
    for (int k = 0; k < b.rows.num_cones; ++k) {
      const ConeVector<C>& x = b.cones[k].*member;
      shared += cone_transposed_u(b, k, x);
      for (int j = 0; j < ny; ++j) rhs[j] -= cone_transposed_y(b, k, j, x);
    }
    return shared;
  }
  static Vec4 transposed_g(Block& b) { return transposed(b, b.g, &ConeState<C>::g); }
  static Vec4 transposed_z(Block& b) { return transposed(b, b.z, &ConeState<C>::z); }

  /// rhs = -c_y, and Sᵀ W⁻² r where the slacks are not yet consistent.
  static Vec4 start_rhs(Block& b, bool consistent) {
    const int ny = num_aux(b);
    for (int j = 0; j < ny; ++j) b.rhs[j] = b.cost_y != nullptr ? -b.cost_y[j] : 0.0;
    if (consistent) return Vec4{};
    for (int i = 0; i < b.rows.padded_orthant; i += 4) store4(b.g + i, -load4(b.weight + i) * load4(b.residual + i));
    for (int k = 0; k < b.rows.num_cones; ++k) {
      ConeState<C>& cone = b.cones[k];
      cone.g = -cone.scaling.inverse_squared(cone.residual);
    }
    return -transposed_g(b);
  }

  /// Predictor: ds, and the reciprocal of the longest step for s and z.
  static double predict(Block& b, Vec4 du, bool consistent) {
    back_substitute(b, du);
    double ratio = 0.0;
    if (b.rows.num_orthant > 0) {
      Vec4 worst{};
      const OrthantProduct product(b, du, b.dy);
      const double* z = b.z;
      const double* inverse_sz = b.inverse_sz;
      double* out = b.ds;
      for (int i = 0; i < b.rows.num_orthant; i += 4) {
        Vec4 ds = product(i);
        if (!consistent) ds -= load4(b.residual + i);
        store4(out + i, ds);
        const Vec4 relative = ds * load4(z + i) * load4(inverse_sz + i);  // ds / s, and dz / z = -1 - ds / s
        worst = max(worst, max(-relative, 1.0 + relative));
      }
      ratio = largest(worst);
    }
    for (int k = 0; k < b.rows.num_cones; ++k) {
      ConeState<C>& cone = b.cones[k];
      cone.ds = cone_product(b, k, du, b.dy);
      if (!consistent) cone.ds = cone.ds - cone.residual;
      const ConeScaling<C>& w = cone.scaling;
      cone.dz = -cone.z - w.inverse_squared(cone.ds);
      ratio = std::max(ratio, boundary_ratio(cone.s, cone.ds, w.det_s, w.inverse_det_s));
      ratio = std::max(ratio, boundary_ratio(cone.z, cone.dz, w.det_z, w.inverse_det_z));
    }
    return ratio;
  }

  /// g = W⁻¹(λ \ correction) - target s⁻¹; the correction from the predictor's step, or none.
  static Vec4 correct(Block& b, double target, bool second_order) {
    const Orthant local(b);
    for (int i = 0, m = b.rows.num_orthant; i < m; i += 4) {
      const Vec4 z = load4(local.z + i);
      const Vec4 ds = load4(local.ds + i);
      const Vec4 products = second_order ? ds * (-z - load4(local.weight + i) * ds) : Vec4{};
      store4(local.g + i, (products - target) * (z * load4(local.inverse_sz + i)));
    }
    for (int k = 0; k < b.rows.num_cones; ++k) {
      ConeState<C>& cone = b.cones[k];
      const ConeScaling<C>& w = cone.scaling;
      cone.g = -(target * w.inverse_det_s) * reflect(cone.s);
      if (second_order) {
        // (W⁻¹ds) ∘ (W dz) with W dz = -λ - W⁻¹ds
        const ConeVector<C> t = w.inverse(cone.ds);
        cone.g = cone.g - w.inverse(divide_square(w, t) + t);
      }
    }
    return transposed_g(b);
  }

  /// Combined step: ds, dz and the reciprocal of the longest step.
  static double combine(Block& b, Vec4 du, bool consistent) {
    back_substitute(b, du);
    double ratio = 0.0;
    if (b.rows.num_orthant > 0) {
      Vec4 worst{};
      const OrthantProduct product(b, du, b.dy);
      const Orthant local(b);
      for (int i = 0; i < b.rows.num_orthant; i += 4) {
        Vec4 ds = product(i);
        if (!consistent) ds -= load4(local.residual + i);
        const Vec4 z = load4(local.z + i);
        const Vec4 dz = -z - load4(local.weight + i) * ds - load4(local.g + i);
        store4(local.ds + i, ds);
        store4(local.dz + i, dz);
        worst = max(worst, max(-ds * z, -dz * load4(local.s + i)) * load4(local.inverse_sz + i));
      }
      ratio = largest(worst);
    }
    for (int k = 0; k < b.rows.num_cones; ++k) {
      ConeState<C>& cone = b.cones[k];
      const ConeScaling<C>& w = cone.scaling;
      cone.ds = cone_product(b, k, du, b.dy);
      if (!consistent) cone.ds = cone.ds - cone.residual;
      cone.dz = -cone.z - w.inverse_squared(cone.ds) - cone.g;
      ratio = std::max(ratio, boundary_ratio(cone.s, cone.ds, w.det_s, w.inverse_det_s));
      ratio = std::max(ratio, boundary_ratio(cone.z, cone.dz, w.det_z, w.inverse_det_z));
    }
    return ratio;
  }

  /// sᵀz.
  static double complementarity(const Block& b) {
    Vec4 products{};
    for (int i = 0; i < b.rows.num_orthant; i += 4) products += load4(b.s + i) * load4(b.z + i);
    double total = sum(products);
    for (int k = 0; k < b.rows.num_cones; ++k) total += dot(b.cones[k].s, b.cones[k].z);
    return total;
  }

  /// (s, z, y) += step (ds, dz, dy); returns sᵀz.
  static double advance(Block& b, double step, bool consistent) {
    Vec4 products{};
    const Orthant local(b);
    for (int i = 0, m = b.rows.num_orthant; i < m; i += 4) {
      const Vec4 s = load4(local.s + i) + step * load4(local.ds + i);
      const Vec4 z = load4(local.z + i) + step * load4(local.dz + i);
      store4(local.s + i, s);
      store4(local.z + i, z);
      if (!consistent) store4(local.residual + i, (1.0 - step) * load4(local.residual + i));
      products += s * z;
    }
    double gap = b.rows.num_orthant > 0 ? sum(products) : 0.0;
    for (int k = 0; k < b.rows.num_cones; ++k) {
      ConeState<C>& cone = b.cones[k];
      cone.s = cone.s + step * cone.ds;
      cone.z = cone.z + step * cone.dz;
      if (!consistent) cone.residual = (1.0 - step) * cone.residual;
      gap += dot(cone.s, cone.z);
    }
    for (int j = 0; j < num_aux(b); ++j) b.y[j] += step * b.dy[j];
    return gap;
  }

  static constexpr double kTiny = 1e-300;
  static constexpr double kPivotFloor = 1e-15;
};

/// Calls f(operations), the operations being compiled for the block's number of own variables if it is small.
template <template <int, int> class Operations, int C, class F>
[[gnu::always_inline]] inline auto with_operations(const ConicBlock<C>& block, F&& f) {
  switch (block.rows.num_aux) {
    case 0:
      return f(Operations<C, 0>{});
    case 1:
      return f(Operations<C, 1>{});
    case 2:
      return f(Operations<C, 2>{});
    case 3:
      return f(Operations<C, 3>{});
    default:
      return f(Operations<C, -1>{});
  }
}

}  // namespace tangere
