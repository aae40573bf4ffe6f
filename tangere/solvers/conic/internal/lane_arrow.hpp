#pragma once

/// The arrow system of conic_arrow.hpp for kLanes problems at once (private to the library).
///
/// The step towards s ∘ z = target e is affine in the target: H du = -c + target v. The sweep that assembles H also
/// gathers v = Sᵀs⁻¹ and what the distance from the central path needs, so that steps to several targets cost no more
/// sweeps.

#include <limits>

#include "tangere/solvers/conic/internal/lane_block.hpp"

namespace tangere {

/// A 4x4 matrix a lane, factored by LU with row exchanges of each lane's own.
class LaneLu {
 public:
  void factor(const LaneMatrix& M) {
    Lane least[kShared];
    for (int i = 0; i < kShared; ++i) {
      a_[i] = M.row[i];
      least[i] = kPivotFloor * abs(M.row[i][i]);
    }
    for (int k = 0, at = 0; k < kShared; ++k) {
      // the largest entry of the column comes up by exchanges with each row below
      for (int i = k + 1; i < kShared; ++i, ++at) {
        exchange_[at] = abs(a_[i][k]) > abs(a_[k][k]);
        for (int j = 0; j < kShared; ++j) exchange(exchange_[at], a_[k][j], a_[i][j]);
      }
      // a pivot that is all rounding error is lifted
      a_[k][k] = 1.0 / select(abs(a_[k][k]) < least[k], least[k], a_[k][k]);
      for (int i = k + 1; i < kShared; ++i) {
        a_[i][k] *= a_[k][k];
        for (int j = k + 1; j < kShared; ++j) a_[i][j] -= a_[i][k] * a_[k][j];
      }
    }
  }

  [[nodiscard]] LaneVector solve(LaneVector x) const {
    for (int k = 0, at = 0; k < kShared; ++k) {
      for (int i = k + 1; i < kShared; ++i, ++at) exchange(exchange_[at], x[k], x[i]);
    }
    for (int i = 1; i < kShared; ++i) {
      for (int j = 0; j < i; ++j) x[i] -= a_[i][j] * x[j];
    }
    for (int i = kShared - 1; i >= 0; --i) {
      for (int j = i + 1; j < kShared; ++j) x[i] -= a_[i][j] * x[j];
      x[i] *= a_[i][i];
    }
    return x;
  }

  /// The x with Mᵀ x = r.
  [[nodiscard]] LaneVector solve_transposed(LaneVector x) const {
    for (int i = 0; i < kShared; ++i) {
      for (int j = 0; j < i; ++j) x[i] -= a_[j][i] * x[j];
      x[i] *= a_[i][i];
    }
    for (int i = kShared - 2; i >= 0; --i) {
      for (int j = i + 1; j < kShared; ++j) x[i] -= a_[j][i] * x[j];
    }
    for (int k = kShared - 2, at = 5; k >= 0; --k) {
      for (int i = kShared - 1; i > k; --i, --at) exchange(exchange_[at], x[k], x[i]);
    }
    return x;
  }

 private:
  static constexpr double kPivotFloor = 1e-15;

  LaneVector a_[kShared];
  LaneMask exchange_[6];
};

/// How far a point is from the central path, for any target: the extremes of s z over orthant rows (0 for none), then
/// what cones add.
struct LaneProducts {
  Lane least = splat(std::numeric_limits<double>::infinity());
  Lane most{};
};

template <int NY>
struct LaneArrowOperations {
  using Block = LaneBlock;
  using Rows = LaneOperations<NY>;
  static constexpr int kRoom = Rows::kRoom;

  /// x ↦ L(s)⁻¹ L(z) x.
  [[gnu::always_inline]] static LaneVector quotient(const LaneCone& cone, const LaneVector& x) {
    const LaneVector& s = cone.s;
    const LaneVector& z = cone.z;
    const LaneVector product{dot(z, x), z[0] * x[1] + x[0] * z[1], z[0] * x[2] + x[0] * z[2],
                             z[0] * x[3] + x[0] * z[3]};
    const Lane head = form(s, product) * cone.inverse_det_s;
    return {head, cone.inverse_head * (product[1] - head * s[1]), cone.inverse_head * (product[2] - head * s[2]),
            cone.inverse_head * (product[3] - head * s[3])};
  }

  /// The block's matrix over the shared variables, own ones eliminated; adds Sᵀs⁻¹, reduced likewise, to `centring`.
  static void assemble(Block& b, LaneMatrix& out, LaneVector& centring, LaneProducts& products) {
    const int ny = Rows::num_aux(b);
    const int stride = kRowY + ny;
    LaneVector right[kRoom];
    LaneVector left[kRoom];
    Lane lu[kRoom * kRoom];
    Lane own[kRoom];
    for (int j = 0; j < ny; ++j) {
      left[j] = right[j] = LaneVector{};
      own[j] = Lane{};
    }
    for (int j = 0; j < ny * ny; ++j) lu[j] = Lane{};

    // orthant; padding rows (s z = 0) do not take part
    const Lane infinity = splat(std::numeric_limits<double>::infinity());
    Lane h[10] = {};
    LaneVector sum{};
    Lane least = products.least;
    Lane most = products.most;
    Rows::invert_rows(b, stride, [](const Lane* row) { return row[kRowS]; });
    Lane* row = b.rows;
    for (int i = 0; i < b.num_orthant; ++i, row += stride) {
      const Lane s = row[kRowS];
      const Lane z = row[kRowZ];
      const LaneMask real = z > 0.0;
      const Lane inverse = keep(real, row[kRowInverse]);
      row[kRowInverse] = inverse;
      const Lane w = z * inverse;
      const Lane sz = s * z;
      least = min(least, sz + keep(~real, infinity));
      most = max(most, sz);
      for (int a = 0, at = 0; a < kShared; ++a) {
        const Lane weighted = w * row[a];
        for (int c = 0; c <= a; ++c, ++at) h[at] += weighted * row[c];
      }
      Rows::add_row(sum, inverse, row);
      for (int j = 0; j < ny; ++j) {
        const Lane wy = w * row[kRowY + j];
        Rows::add_row(right[j], wy, row);
        own[j] += inverse * row[kRowY + j];
        for (int l = 0; l < ny; ++l) lu[ny * j + l] += wy * row[kRowY + l];
      }
    }
    products.least = least;
    products.most = most;
    for (int j = 0; j < ny; ++j) left[j] = right[j];
    LaneMatrix H;
    for (int a = 0, at = 0; a < kShared; ++a) {
      for (int c = 0; c <= a; ++c, ++at) H.row[a][c] = H.row[c][a] = h[at];
    }

    // cones: Sᵀ M S
    for (int k = 0; k < b.num_cones; ++k) {
      LaneCone& cone = b.cones[k];
      const Lane det = form(cone.s, cone.s);
      const Lane inverse = 1.0 / (det * cone.s[0]);
      cone.inverse_det_s = inverse * cone.s[0];
      cone.inverse_head = inverse * det;
      for (int a = 0; a < kShared; ++a) {
        const LaneVector image = quotient(cone, cone.column[a]);
        for (int c = 0; c < kShared; ++c) H.row[c][a] += dot(cone.column[c], image);
        for (int j = 0; j < ny; ++j) right[j][a] += dot(b.cone_y[ny * k + j], image);
      }
      const LaneVector inverse_s = cone.inverse_det_s * reflect(cone.s);
      sum = sum + Rows::cone_transposed(cone, inverse_s);
      for (int j = 0; j < ny; ++j) {
        const LaneVector& column = b.cone_y[ny * k + j];
        const LaneVector image = quotient(cone, column);
        left[j] = left[j] + Rows::cone_transposed(cone, image);
        own[j] += dot(column, inverse_s);
        for (int l = 0; l < ny; ++l) lu[ny * l + j] += dot(b.cone_y[ny * k + l], image);
      }
    }

    // eliminate y
    for (int j = 0; j < ny; ++j) {
      const Lane pivot = 1.0 / lu[ny * j + j];
      lu[ny * j + j] = pivot;
      left[j] = pivot * left[j];
      for (int i = j + 1; i < ny; ++i) {
        const Lane lower = lu[ny * i + j] *= pivot;
        for (int l = j + 1; l < ny; ++l) lu[ny * i + l] -= lower * lu[ny * j + l];
        right[i] = plus(right[i], -lower, right[j]);
        left[i] = plus(left[i], -lu[ny * j + i], left[j]);
      }
      for (int a = 0; a < kShared; ++a) H.row[a] = plus(H.row[a], -left[j][a], right[j]);
      for (int l = 0; l < j; ++l) own[j] -= lu[ny * j + l] * own[l];
      sum = plus(sum, -own[j], left[j]);
    }
    for (int j = 0; j < ny; ++j) {
      b.coupling[j] = right[j];
      b.own_centring[j] = own[j];
    }
    for (int j = 0; j < ny * ny; ++j) b.factor[j] = lu[j];
    centring = centring + sum;
    out = H;
  }

  /// The largest |s ∘ z - target e| of the cones.
  static Lane cone_error(const Block& b, Lane target) {
    Lane worst{};
    for (int k = 0; k < b.num_cones; ++k) {
      const LaneCone& cone = b.cones[k];
      const LaneVector& s = cone.s;
      const LaneVector& z = cone.z;
      const LaneVector error{dot(s, z) - target, s[0] * z[1] + z[0] * s[1], s[0] * z[2] + z[0] * s[2],
                             s[0] * z[3] + z[0] * s[3]};
      worst = max(worst, dot(error, error));
    }
    return sqrt(worst);
  }

  /// dy, ds, dz of a full step towards s ∘ z = target e; returns |ds ∘ dz|∞, infinite if the step leaves a cone.
  static Lane complete(Block& b, const LaneVector& du, Lane target) {
    const int ny = Rows::num_aux(b);
    const int stride = kRowY + ny;
    Lane dy[kRoom];
    for (int j = ny - 1; j >= 0; --j) {
      Lane value = target * b.own_centring[j] - dot(b.coupling[j], du);
      for (int l = j + 1; l < ny; ++l) value -= b.factor[ny * j + l] * dy[l];
      b.dy[j] = dy[j] = value * b.factor[ny * j + j];
    }
    Lane worst{};
    LaneMask inside = Lane{} == Lane{};
    Lane* row = b.rows;
    for (int i = 0; i < b.num_orthant; ++i, row += stride) {
      const Lane s = row[kRowS];
      const Lane z = row[kRowZ];
      const Lane inverse = row[kRowInverse];
      const Lane ds = Rows::product(row, du, dy, ny);
      const Lane dz = (target - z * ds) * inverse - z;
      row[kRowDs] = ds;
      row[kRowDz] = dz;
      worst = max(worst, abs(ds * dz));
      inside &= (s + ds >= 0.0) & (z + dz >= 0.0);
    }
    Lane squared{};
    for (int k = 0; k < b.num_cones; ++k) {
      LaneCone& cone = b.cones[k];
      const LaneVector ds = Rows::cone_product(b, k, du, dy, ny);
      const LaneVector dz =
          plus(LaneVector{}, target * cone.inverse_det_s, reflect(cone.s)) - cone.z - quotient(cone, ds);
      cone.ds = ds;
      cone.dz = dz;
      const LaneVector rest{dot(ds, dz), ds[0] * dz[1] + dz[0] * ds[1], ds[0] * dz[2] + dz[0] * ds[2],
                            ds[0] * dz[3] + dz[0] * ds[3]};
      squared = max(squared, dot(rest, rest));
      const LaneVector s = cone.s + ds;
      const LaneVector z = cone.z + dz;
      inside &= (s[0] > 0.0) & (z[0] > 0.0) & (form(s, s) > 0.0) & (form(z, z) > 0.0);
    }
    const Lane error = max(worst, sqrt(squared));
    return select(inside & is_finite(error), error, splat(std::numeric_limits<double>::infinity()));
  }
};

}  // namespace tangere
