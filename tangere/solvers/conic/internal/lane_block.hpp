#pragma once

/// One block of conic rows of kLanes problems at once, one problem a lane (private to the library): conic_block.hpp
/// with `Lane` in the place of a number. All lanes have the same numbers of rows, cones and own variables; a lane with
/// fewer orthant rows has rows of zeros with s = 1, z = 0, which change nothing.
///
///   s = S_u u + S_y y,   c_u = Σ S_uᵀ z,   0 = S_yᵀ z,   s ∘ z → 0
///
/// Departures from conic_block.hpp: slacks are always consistent; the rows cost more to read than to use, so the
/// predictor's sweep also gathers both parts of the corrector's right-hand side (which is affine in the target).

#include <algorithm>

#include "tangere/math/conic_rows.hpp"
#include "tangere/math/lane.hpp"

namespace tangere {

/// The most own variables a block in lanes may have.
inline constexpr int kMaxLaneAux = 12;

/// An orthant row in memory: these entries, then num_aux of S_y.
enum LaneRow : int { kRowU = 0, kRowS = 4, kRowZ, kRowInverse, kRowG, kRowDs, kRowDz, kRowY };

struct LaneVector {
  Lane v[kShared];
  [[nodiscard, gnu::always_inline]] Lane& operator[](int i) { return v[i]; }
  [[nodiscard, gnu::always_inline]] const Lane& operator[](int i) const { return v[i]; }
};

[[nodiscard, gnu::always_inline]] inline LaneVector operator+(const LaneVector& a, const LaneVector& b) {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]};
}
[[nodiscard, gnu::always_inline]] inline LaneVector operator-(const LaneVector& a, const LaneVector& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3]};
}
[[nodiscard, gnu::always_inline]] inline LaneVector operator*(Lane t, const LaneVector& a) {
  return {t * a[0], t * a[1], t * a[2], t * a[3]};
}
/// a + t b.
[[nodiscard, gnu::always_inline]] inline LaneVector plus(const LaneVector& a, Lane t, const LaneVector& b) {
  return {a[0] + t * b[0], a[1] + t * b[1], a[2] + t * b[2], a[3] + t * b[3]};
}
[[nodiscard, gnu::always_inline]] inline Lane dot(const LaneVector& a, const LaneVector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}
[[nodiscard, gnu::always_inline]] inline Lane tail_dot(const LaneVector& a, const LaneVector& b) {
  return a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}
/// aᵀ J b.
[[nodiscard, gnu::always_inline]] inline Lane form(const LaneVector& a, const LaneVector& b) {
  return a[0] * b[0] - tail_dot(a, b);
}
[[nodiscard, gnu::always_inline]] inline LaneVector reflect(const LaneVector& a) { return {a[0], -a[1], -a[2], -a[3]}; }
[[nodiscard, gnu::always_inline]] inline LaneVector freeze(LaneMask live, const LaneVector& moved,
                                                           const LaneVector& still) {
  return {select(live, moved[0], still[0]), select(live, moved[1], still[1]), select(live, moved[2], still[2]),
          select(live, moved[3], still[3])};
}
[[nodiscard, gnu::always_inline]] inline LaneVector keep(LaneMask mask, const LaneVector& a) {
  return {keep(mask, a[0]), keep(mask, a[1]), keep(mask, a[2]), keep(mask, a[3])};
}

/// A symmetric 4x4 matrix: the lower triangle by rows.
struct LaneSymmetric {
  Lane v[10];
};
/// Any 4x4 matrix, by rows.
struct LaneMatrix {
  LaneVector row[kShared];
};

struct LaneCone {
  LaneVector column[kShared];  // of S_u
  LaneSymmetric forms;         // S_uᵀ J S_u
  LaneVector s, z, ds, dz;
  LaneVector g;  // second-order part of the corrector
  // Nesterov–Todd scaling, see cone_vector.hpp
  LaneVector a;
  Lane omega, det_s, det_z, inverse_det_s, inverse_det_z, inverse_det_lambda;
  // arrow system: 1 / det s is above
  Lane inverse_head;
};

/// The state of one block; the arrays live in LaneStorage.
struct LaneBlock {
  int num_aux = 0;
  int num_orthant = 0;
  int num_cones = 0;

  Lane* rows = nullptr;           // num_orthant times `stride()`
  LaneCone* cones = nullptr;      // num_cones
  LaneVector* cone_y = nullptr;   // for each cone, num_aux columns of S_y
  LaneVector* form_yu = nullptr;  // for each cone, num_aux rows of S_yᵀ J S_u
  Lane* form_yy = nullptr;        // for each cone, S_yᵀ J S_y
  Lane* y = nullptr;
  Lane* dy = nullptr;
  Lane* rhs = nullptr;

  // elimination of the own variables
  Lane* factor = nullptr;          // num_aux²
  Lane* pivot = nullptr;           // 1 / D
  LaneVector* coupling = nullptr;  // L⁻¹ H_yu; in the arrow system also `left` = H_uy U⁻¹
  LaneVector* left = nullptr;
  // right-hand sides of the own variables: second-order part, centring part
  Lane* own_second = nullptr;
  Lane* own_centring = nullptr;

  [[nodiscard]] int stride() const { return kRowY + num_aux; }
};

/// NY: number of own variables if known when compiled, else -1.
template <int NY>
struct LaneOperations {
  using Block = LaneBlock;
  static constexpr double kTiny = 1e-140;
  static constexpr double kPivotFloor = 1e-15;
  static constexpr int kRoom = NY >= 0 ? std::max(NY, 1) : kMaxLaneAux;

  static int num_aux(const Block& b) { return NY >= 0 ? NY : b.num_aux; }

  /// S_u du + S_y dy of a row.
  [[gnu::always_inline]] static Lane product(const Lane* row, const LaneVector& du, const Lane* dy, int ny) {
    Lane v = row[0] * du[0] + row[1] * du[1] + row[2] * du[2] + row[3] * du[3];
    for (int j = 0; j < ny; ++j) v += row[kRowY + j] * dy[j];
    return v;
  }
  [[gnu::always_inline]] static LaneVector cone_product(const Block& b, int k, const LaneVector& du, const Lane* dy,
                                                        int ny) {
    const LaneCone& cone = b.cones[k];
    LaneVector v = du[0] * cone.column[0];
    for (int a = 1; a < kShared; ++a) v = plus(v, du[a], cone.column[a]);
    for (int j = 0; j < ny; ++j) v = plus(v, dy[j], b.cone_y[ny * k + j]);
    return v;
  }
  /// S_uᵀ x.
  [[gnu::always_inline]] static LaneVector cone_transposed(const LaneCone& cone, const LaneVector& x) {
    return {dot(cone.column[0], x), dot(cone.column[1], x), dot(cone.column[2], x), dot(cone.column[3], x)};
  }
  /// sum += t (S_u of the row).
  [[gnu::always_inline]] static void add_row(LaneVector& sum, Lane t, const Lane* row) {
    for (int a = 0; a < kShared; ++a) sum[a] += t * row[a];
  }

  /// The rows' `inverse` = 1 / f(row), two by one division.
  template <class F>
  [[gnu::always_inline]] static void invert_rows(Block& b, int stride, F f) {
    Lane* row = b.rows;
    int i = 0;
    for (; i + 1 < b.num_orthant; i += 2, row += 2 * stride) {
      const Lane first = f(row);
      const Lane second = f(row + stride);
      const Lane inverse = 1.0 / (first * second);
      row[kRowInverse] = inverse * second;
      row[stride + kRowInverse] = inverse * first;
    }
    if (i < b.num_orthant) row[kRowInverse] = 1.0 / f(row);
  }

  /// The rows' `inverse` = 1 / (s z), which `assemble` expects and `advance` keeps.
  static void invert(Block& b) {
    invert_rows(b, kRowY + num_aux(b), [](const Lane* row) { return row[kRowS] * row[kRowZ] + kTiny; });
  }

  /// s = S_u u + S_y y + (offset on orthant rows), for the start.
  static void evaluate(Block& b, const LaneVector& u, Lane offset) {
    const int ny = num_aux(b);
    Lane* row = b.rows;
    for (int i = 0; i < b.num_orthant; ++i, row += b.stride()) row[kRowS] = product(row, u, b.y, ny) + offset;
    for (int k = 0; k < b.num_cones; ++k) b.cones[k].s = cone_product(b, k, u, b.y, ny);
  }

  /// Scaling of a cone at (s, z).
  [[gnu::always_inline]] static void scale(LaneCone& cone) {
    const LaneVector& s = cone.s;
    const LaneVector& z = cone.z;
    cone.det_s = form(s, s);
    cone.det_z = form(z, z);
    const Lane p = sqrt(cone.det_s * cone.det_z);
    const Lane root = sqrt(2.0 * (p + dot(s, z)));
    const Lane inverse = 1.0 / (p * root);
    const Lane inverse_p = inverse * root;
    cone.inverse_det_lambda = inverse_p;
    cone.omega = cone.det_z * inverse_p;
    cone.inverse_det_s = cone.omega * inverse_p;
    cone.inverse_det_z = cone.det_s * inverse_p * inverse_p;
    const Lane t = inverse * p;
    const Lane w = t * cone.omega;
    cone.a = {w * s[0] + t * z[0], t * z[1] - w * s[1], t * z[2] - w * s[2], t * z[3] - w * s[3]};
  }

  /// Scaling at (s, z); H plus the block's Schur complement.
  static void assemble(Block& b, LaneSymmetric& H) {
    const int ny = num_aux(b);
    const int stride = kRowY + ny;
    LaneVector coupling[kRoom];
    Lane yy[kRoom * kRoom];
    for (int j = 0; j < ny; ++j) coupling[j] = LaneVector{};
    for (int j = 0; j < ny * ny; ++j) yy[j] = Lane{};

    // orthant: Σ w_i row_i row_iᵀ
    Lane h[10];
    for (int i = 0; i < 10; ++i) h[i] = H.v[i];
    const Lane* row = b.rows;
    for (int i = 0; i < b.num_orthant; ++i, row += stride) {
      const Lane z = row[kRowZ];
      const Lane w = z * z * row[kRowInverse];
      for (int a = 0, at = 0; a < kShared; ++a) {
        const Lane weighted = w * row[a];
        for (int c = 0; c <= a; ++c, ++at) h[at] += weighted * row[c];
      }
      for (int j = 0; j < ny; ++j) {
        const Lane wy = w * row[kRowY + j];
        add_row(coupling[j], wy, row);
        for (int l = 0; l <= j; ++l) yy[ny * j + l] += wy * row[kRowY + l];
      }
    }

    // cones: 2 (Sᵀa)(Sᵀa)ᵀ - ω SᵀJS
    for (int k = 0; k < b.num_cones; ++k) {
      LaneCone& cone = b.cones[k];
      scale(cone);
      const Lane omega = cone.omega;
      const LaneVector t = cone_transposed(cone, cone.a);
      const LaneVector t2 = t + t;
      for (int a = 0, at = 0; a < kShared; ++a) {
        for (int c = 0; c <= a; ++c, ++at) h[at] += t[a] * t2[c] - omega * cone.forms.v[at];
      }
      Lane ty[kRoom];
      for (int j = 0; j < ny; ++j) {
        ty[j] = dot(b.cone_y[ny * k + j], cone.a);
        coupling[j] = plus(plus(coupling[j], ty[j], t2), -omega, b.form_yu[ny * k + j]);
        for (int l = 0; l <= j; ++l) yy[ny * j + l] += 2.0 * ty[j] * ty[l] - omega * b.form_yy[ny * (ny * k + j) + l];
      }
    }

    // eliminate y: H_yy = L D Lᵀ, coupling = L⁻¹ H_yu, H -= couplingᵀ D⁻¹ coupling
    for (int j = 0; j < ny; ++j) {
      Lane d = yy[ny * j + j];
      const Lane least = kPivotFloor * d;
      for (int l = 0; l < j; ++l) {
        Lane entry = yy[ny * j + l];
        for (int i = 0; i < l; ++i) entry -= yy[ny * j + i] * yy[ny * l + i];  // yy(j, i) still holds L D
        yy[ny * j + l] = entry;
      }
      for (int l = 0; l < j; ++l) {
        const Lane lower = yy[ny * j + l] * b.pivot[l];
        d -= lower * yy[ny * j + l];
        coupling[j] = plus(coupling[j], -lower, coupling[l]);
        yy[ny * j + l] = lower;
      }
      b.pivot[j] = 1.0 / max(d, least);
      const LaneVector scaled = b.pivot[j] * coupling[j];
      for (int a = 0, at = 0; a < kShared; ++a) {
        for (int c = 0; c <= a; ++c, ++at) h[at] -= coupling[j][a] * scaled[c];
      }
    }
    for (int j = 0; j < ny; ++j) b.coupling[j] = coupling[j];
    for (int j = 0; j < ny * ny; ++j) b.factor[j] = yy[j];
    for (int i = 0; i < 10; ++i) H.v[i] = h[i];
  }

  /// dy from du and the own right-hand side; `rhs` null for zero.
  [[gnu::always_inline]] static void back_substitute(const Block& b, const LaneVector& du, const Lane* rhs, Lane* dy,
                                                     int ny) {
    for (int j = ny - 1; j >= 0; --j) {
      const Lane coupled = dot(b.coupling[j], du);
      Lane value = (rhs != nullptr ? rhs[j] - coupled : -coupled) * b.pivot[j];
      for (int l = j + 1; l < ny; ++l) value -= b.factor[ny * l + j] * dy[l];
      dy[j] = value;
    }
  }

  /// 1 / (the largest t with v + t d in the cone), not positive if there is none.
  [[gnu::always_inline]] static Lane boundary_ratio(const LaneVector& v, const LaneVector& d, Lane det_v,
                                                    Lane inverse) {
    const Lane b = form(v, d);
    return (sqrt(max(b * b - det_v * form(d, d), Lane{})) - b) * inverse;
  }

  /// The second-order part of g = W⁻¹(λ \ ((W⁻¹ds) ∘ (W dz))) with W dz = -λ - W⁻¹ds.
  [[gnu::always_inline]] static LaneVector second_order(const LaneCone& cone, const LaneVector& ds) {
    const LaneVector& a = cone.a;
    const LaneVector& s = cone.s;
    const Lane root = sqrt(cone.omega);
    // 1 / (√ω + a₀) and 1 / λ₀ by one division; λ₀ = aᵀs
    const Lane tail_s = tail_dot(a, s);
    const Lane lambda_head = a[0] * s[0] + tail_s;
    const Lane denominator = root + a[0];
    const Lane inverse = 1.0 / (denominator * lambda_head);
    const Lane tail_factor = inverse * lambda_head;
    const Lane inverse_head = inverse * denominator;
    const Lane along_s = s[0] + tail_s * tail_factor;
    const LaneVector lambda{lambda_head, root * s[1] + along_s * a[1], root * s[2] + along_s * a[2],
                            root * s[3] + along_s * a[3]};
    const auto unscale = [&](const LaneVector& x) {
      const Lane tail = tail_dot(a, x);
      const Lane along = x[0] + tail * tail_factor;
      return LaneVector{a[0] * x[0] + tail, root * x[1] + along * a[1], root * x[2] + along * a[2],
                        root * x[3] + along * a[3]};
    };
    const LaneVector t = unscale(ds);
    // λ \ (t ∘ t)
    const Lane twice = t[0] + t[0];
    const LaneVector square{dot(t, t), twice * t[1], twice * t[2], twice * t[3]};
    const Lane head = form(lambda, square) * cone.inverse_det_lambda;
    const LaneVector sum{-head - t[0], inverse_head * (head * lambda[1] - square[1]) - t[1],
                         inverse_head * (head * lambda[2] - square[2]) - t[2],
                         inverse_head * (head * lambda[3] - square[3]) - t[3]};
    return unscale(sum);
  }

  /// Predictor: the reciprocal of the longest step for s and z, and Sᵀg of the corrector as its second-order part and
  /// minus its centring part for target 1; the own parts of both with signs of a right-hand side.
  static Lane predict(Block& b, const LaneVector& du, LaneVector& second, LaneVector& centring) {
    const int ny = num_aux(b);
    const int stride = kRowY + ny;
    Lane dy[kRoom];
    back_substitute(b, du, nullptr, dy, ny);
    Lane own_second[kRoom];
    Lane own_centring[kRoom];
    for (int j = 0; j < ny; ++j) own_second[j] = own_centring[j] = Lane{};
    Lane ratio{};
    LaneVector sum_second{};
    LaneVector sum_centring{};
    // the step the other way, so that no row is to change sign
    const LaneVector back = LaneVector{} - du;
    Lane back_y[kRoom];
    for (int j = 0; j < ny; ++j) back_y[j] = -dy[j];
    Lane* row = b.rows;
    for (int i = 0; i < b.num_orthant; ++i, row += stride) {
      const Lane z = row[kRowZ];
      const Lane inverse_s = z * row[kRowInverse];
      const Lane relative = product(row, back, back_y, ny) * inverse_s;  // -ds / s, and dz / z = -1 - ds / s
      const Lane beyond = 1.0 - relative;
      ratio = max(ratio, max(relative, beyond));
      const Lane g = relative * z * beyond;
      row[kRowG] = g;
      add_row(sum_second, g, row);
      add_row(sum_centring, inverse_s, row);
      for (int j = 0; j < ny; ++j) {
        own_second[j] -= g * row[kRowY + j];
        own_centring[j] += inverse_s * row[kRowY + j];
      }
    }
    for (int k = 0; k < b.num_cones; ++k) {
      LaneCone& cone = b.cones[k];
      const LaneVector ds = cone_product(b, k, du, dy, ny);
      // the scaled steps t and -λ - t have one discriminant: both ratios by one root
      const Lane along = form(cone.s, ds);
      const Lane root = sqrt(max(along * along - cone.det_s * form(ds, ds), Lane{}));
      ratio = max(ratio, max((root - along) * cone.inverse_det_s, 1.0 + (root + along) * cone.inverse_det_s));
      const LaneVector g = cone.g = second_order(cone, ds);
      const LaneVector inverse_s = cone.inverse_det_s * reflect(cone.s);
      sum_second = sum_second + cone_transposed(cone, g);
      sum_centring = sum_centring + cone_transposed(cone, inverse_s);
      for (int j = 0; j < ny; ++j) {
        own_second[j] -= dot(b.cone_y[ny * k + j], g);
        own_centring[j] += dot(b.cone_y[ny * k + j], inverse_s);
      }
    }
    for (int j = 0; j < ny; ++j) {
      b.own_second[j] = own_second[j];
      b.own_centring[j] = own_centring[j];
    }
    second = second + sum_second;
    centring = centring + sum_centring;
    return ratio;
  }

  /// The own right-hand side for a target, forward substituted; takes off the shared one what that does to it.
  static void reduce_rhs(Block& b, Lane target, Lane use_second, LaneVector& shared) {
    const int ny = num_aux(b);
    for (int j = 0; j < ny; ++j) {
      Lane value = use_second * b.own_second[j] + target * b.own_centring[j];
      for (int l = 0; l < j; ++l) value -= b.factor[ny * j + l] * b.rhs[l];
      b.rhs[j] = value;
      shared = plus(shared, -(value * b.pivot[j]), b.coupling[j]);
    }
  }

  /// Combined step: ds, dz and the reciprocal of the longest step.
  static Lane combine(Block& b, LaneVector du, Lane target, Lane use_second) {
    const int ny = num_aux(b);
    const int stride = kRowY + ny;
    Lane dy[kRoom];
    back_substitute(b, du, b.rhs, dy, ny);
    for (int j = 0; j < ny; ++j) b.dy[j] = dy[j];
    Lane lowest{};  // of ds / s and dz / z
    Lane* row = b.rows;
    for (int i = 0; i < b.num_orthant; ++i, row += stride) {
      const Lane z = row[kRowZ];
      const Lane inverse = row[kRowInverse];
      const Lane inverse_s = z * inverse;
      const Lane ds = product(row, du, dy, ny);
      const Lane relative = ds * inverse_s;
      const Lane dz = target * inverse_s - use_second * row[kRowG] - z - relative * z;
      row[kRowDs] = ds;
      row[kRowDz] = dz;
      lowest = min(lowest, min(relative, dz * (row[kRowS] * inverse)));
    }
    Lane ratio = -lowest;
    for (int k = 0; k < b.num_cones; ++k) {
      LaneCone& cone = b.cones[k];
      const LaneVector ds = cone_product(b, k, du, dy, ny);
      const Lane along = 2.0 * dot(cone.a, ds);
      const LaneVector g = plus(use_second * cone.g, -(target * cone.inverse_det_s), reflect(cone.s));
      const LaneVector dz = cone.omega * reflect(ds) - cone.z - along * cone.a - g;
      ratio = max(ratio, boundary_ratio(cone.s, ds, cone.det_s, cone.inverse_det_s));
      ratio = max(ratio, boundary_ratio(cone.z, dz, cone.det_z, cone.inverse_det_z));
      cone.ds = ds;
      cone.dz = dz;
    }
    return ratio;
  }

  /// (s, z, y) += step (ds, dz, dy) in the live lanes, and `invert` if asked for; returns sᵀz.
  template <bool Invert>
  static Lane advance(Block& b, Lane step, LaneMask live) {
    const int ny = num_aux(b);
    const int stride = kRowY + ny;
    // nothing is added in the other lanes, whatever their step is
    step = keep(live, step);
    Lane gap{};
    const auto advance_row = [&](Lane* row) {
      const Lane s = row[kRowS] + step * keep(live, row[kRowDs]);
      const Lane z = row[kRowZ] + step * keep(live, row[kRowDz]);
      row[kRowS] = s;
      row[kRowZ] = z;
      gap += s * z;
      return s * z + kTiny;
    };
    if constexpr (Invert) {
      invert_rows(b, stride, advance_row);
    } else {
      for (int i = 0; i < b.num_orthant; ++i) (void)advance_row(b.rows + stride * i);
    }
    for (int k = 0; k < b.num_cones; ++k) {
      LaneCone& cone = b.cones[k];
      cone.s = plus(cone.s, step, keep(live, cone.ds));
      cone.z = plus(cone.z, step, keep(live, cone.dz));
      gap += dot(cone.s, cone.z);
    }
    for (int j = 0; j < ny; ++j) b.y[j] += step * keep(live, b.dy[j]);
    return gap;
  }

  /// Sᵀz: the shared part is returned, the largest of the own part joins `own`.
  static LaneVector transposed_z(const Block& b, Lane& own) {
    const int ny = num_aux(b);
    const int stride = kRowY + ny;
    LaneVector shared{};
    Lane sums[kRoom];
    for (int j = 0; j < ny; ++j) sums[j] = Lane{};
    const Lane* row = b.rows;
    for (int i = 0; i < b.num_orthant; ++i, row += stride) {
      add_row(shared, row[kRowZ], row);
      for (int j = 0; j < ny; ++j) sums[j] += row[kRowZ] * row[kRowY + j];
    }
    for (int k = 0; k < b.num_cones; ++k) {
      shared = shared + cone_transposed(b.cones[k], b.cones[k].z);
      for (int j = 0; j < ny; ++j) sums[j] += dot(b.cone_y[ny * k + j], b.cones[k].z);
    }
    for (int j = 0; j < ny; ++j) own = max(own, abs(sums[j]));
    return shared;
  }
};

/// Calls f(operations), the operations being compiled for the block's number of own variables if it is small.
template <template <int> class Operations, class F>
[[gnu::always_inline]] inline auto with_lane_operations(const LaneBlock& block, F&& f) {
  switch (block.num_aux) {
    case 0:
      return f(Operations<0>{});
    case 1:
      return f(Operations<1>{});
    case 2:
      return f(Operations<2>{});
    case 3:
      return f(Operations<3>{});
    default:
      return f(Operations<-1>{});
  }
}

}  // namespace tangere
