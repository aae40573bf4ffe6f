#pragma once

/// Newton's method on s ∘ z = target e itself (the arrow, or Alizadeh–Haeberly–Overton, direction), used to walk the
/// last bit to a point of the central path.
///
/// Nesterov–Todd steps are robust far from the path but centre slowly next to the boundary of a curved cone: the answer
/// of a Mehrotra iteration with gap g has normals that are off by √g. Linearising the product s ∘ z,
///
///   dz = -z - M ds + target s⁻¹,     M = L(s)⁻¹ L(z),    L(s) = [s₀ s₁ᵀ; s₁ s₀ I],
///
/// leaves exactly ds ∘ dz as the next error: quadratic convergence, whatever the gap. M is symmetric only on the path,
/// hence LU.

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tangere/solvers/conic/internal/conic_block.hpp"

namespace tangere {

/// x ↦ L(s)⁻¹ L(z) x.
template <int C>
struct ArrowQuotient {
  const ConeVector<C>& s;
  const ConeVector<C>& z;
  double inverse_det;
  double inverse_head;

  ArrowQuotient(const ConeVector<C>& slack, const ConeVector<C>& multiplier)
      : s(slack), z(multiplier), inverse_det(1.0 / det(slack)), inverse_head(1.0 / slack.head()) {}

  [[nodiscard, gnu::always_inline]] ConeVector<C> operator()(const ConeVector<C>& x) const {
    const ConeVector<C> product = jordan_product(z, x);
    const double head = dot(s, reflect(product)) * inverse_det;
    return with_head(inverse_head * (product - head * s), head);
  }
};

/// A 4x4 matrix factored by LU with row exchanges.
class SharedLu {
 public:
  SharedLu() = default;
  explicit SharedLu(const SharedMatrix& M) {
    for (int i = 0; i < kShared; ++i) {
      for (int j = 0; j < kShared; ++j) a_[i][j] = M.row[i][j];
      order_[i] = i;
    }
    for (int k = 0; k < kShared; ++k) {
      int pivot = k;
      for (int i = k + 1; i < kShared; ++i) {
        if (std::abs(a_[i][k]) > std::abs(a_[pivot][k])) pivot = i;
      }
      if (pivot != k) {
        std::swap(a_[k], a_[pivot]);
        std::swap(order_[k], order_[pivot]);
      }
      // a pivot that is all rounding error is lifted
      const double floor = kPivotFloor * std::abs(M.row[k][k]);
      if (std::abs(a_[k][k]) < floor) a_[k][k] = floor;
      a_[k][k] = 1.0 / a_[k][k];
      for (int i = k + 1; i < kShared; ++i) {
        a_[i][k] *= a_[k][k];
        for (int j = k + 1; j < kShared; ++j) a_[i][j] -= a_[i][k] * a_[k][j];
      }
    }
  }
  [[nodiscard]] Vec4 solve(Vec4 r) const {
    double x[kShared];
    for (int i = 0; i < kShared; ++i) {
      x[i] = r[order_[i]];
      for (int j = 0; j < i; ++j) x[i] -= a_[i][j] * x[j];
    }
    for (int i = kShared - 1; i >= 0; --i) {
      for (int j = i + 1; j < kShared; ++j) x[i] -= a_[i][j] * x[j];
      x[i] *= a_[i][i];
    }
    return Vec4{x[0], x[1], x[2], x[3]};
  }
  /// Twelve right-hand sides at once, as rows of three short vectors; overwritten by the solutions.
  void solve_rows(Vec4 (&rows)[kShared][3]) const {
    Vec4 x[kShared][3];
    for (int i = 0; i < kShared; ++i) {
      for (int c = 0; c < 3; ++c) x[i][c] = rows[order_[i]][c];
      for (int j = 0; j < i; ++j) {
        for (int c = 0; c < 3; ++c) x[i][c] -= a_[i][j] * x[j][c];
      }
    }
    for (int i = kShared - 1; i >= 0; --i) {
      for (int j = i + 1; j < kShared; ++j) {
        for (int c = 0; c < 3; ++c) x[i][c] -= a_[i][j] * x[j][c];
      }
      for (int c = 0; c < 3; ++c) rows[i][c] = x[i][c] *= a_[i][i];
    }
  }

 private:
  static constexpr double kPivotFloor = 1e-15;

  double a_[kShared][kShared];
  int order_[kShared];
};

/// One block of the arrow system: its matrix with the own variables eliminated, and how.
struct ArrowBlock {
  SharedMatrix reduced;          // H_uu - H_uy H_yy⁻¹ H_yu
  double lu[kMaxAux * kMaxAux];  // H_yy = L U: unit lower L; U with reciprocal diagonal
  Vec4 right[kMaxAux];           // L⁻¹ H_yu
  Vec4 left[kMaxAux];            // H_uy U⁻¹
};

template <int C, int NY>
struct ArrowOperations {
  using Block = ConicBlock<C>;
  using Rows = BlockOperations<C, NY>;

  static void assemble(Block& b, ArrowBlock& own) {
    const int ny = Rows::num_aux(b);
    SharedMatrix H{};
    for (int j = 0; j < ny; ++j) own.left[j] = own.right[j] = Vec4{};
    for (int j = 0; j < ny * ny; ++j) own.lu[j] = 0.0;

    // orthant
    const int m = b.rows.num_orthant;
    for (int i = 0; i < m; i += 4) store4(b.weight + i, load4(b.z + i) / load4(b.s + i));
    for (int i = 0; i < m; ++i) {
      const double* row_u = b.rows.orthant_rows_u + kShared * i;
      const double* row_y = b.rows.orthant_rows_y + ny * i;
      const double w = b.weight[i];
      const Vec4 weighted = w * load4(row_u);
      for (int a = 0; a < kShared; ++a) H.row[a] += row_u[a] * weighted;
      for (int j = 0; j < ny; ++j) {
        own.right[j] += row_y[j] * weighted;
        own.left[j] += row_y[j] * weighted;
        for (int l = 0; l < ny; ++l) own.lu[ny * j + l] += w * row_y[j] * row_y[l];
      }
    }

    // cones: Sᵀ M S
    for (int k = 0; k < b.rows.num_cones; ++k) {
      const ConeState<C>& cone = b.cones[k];
      const ArrowQuotient<C> quotient(cone.s, cone.z);
      ConeVector<C> image[kShared];
      for (int a = 0; a < kShared; ++a) image[a] = quotient(Rows::column(b.rows.cone_u, kShared * k + a));
      const auto products = [&](const ConeVector<C>& x) {
        Vec4 p[kShared];
        for (int a = 0; a < kShared; ++a) {
          p[a] = x.v[0] * image[a].v[0];
          for (int i = 1; i < C; ++i) p[a] += x.v[i] * image[a].v[i];
        }
        return sums(p[0], p[1], p[2], p[3]);
      };
      for (int a = 0; a < kShared; ++a) H.row[a] += products(Rows::column(b.rows.cone_u, kShared * k + a));
      for (int j = 0; j < ny; ++j) {
        const ConeVector<C> column = Rows::column(b.rows.cone_y, ny * k + j);
        const ConeVector<C> image_y = quotient(column);
        own.right[j] += products(column);
        own.left[j] += Rows::cone_transposed_u(b, k, image_y);
        for (int l = 0; l < ny; ++l) own.lu[ny * l + j] += Rows::cone_transposed_y(b, k, l, image_y);
      }
    }

    // eliminate y
    for (int j = 0; j < ny; ++j) {
      const double pivot = 1.0 / own.lu[ny * j + j];
      own.lu[ny * j + j] = pivot;
      own.left[j] *= pivot;
      for (int i = j + 1; i < ny; ++i) {
        const double lower = own.lu[ny * i + j] *= pivot;
        for (int l = j + 1; l < ny; ++l) own.lu[ny * i + l] -= lower * own.lu[ny * j + l];
        own.right[i] -= lower * own.right[j];
        own.left[i] -= own.lu[ny * j + i] * own.left[j];
      }
      for (int a = 0; a < kShared; ++a) H.row[a] -= own.left[j][a] * own.right[j];
    }
    own.reduced = H;
  }

  /// Forward substitution of the own right-hand side; returns what it takes off the shared one.
  static Vec4 reduce_rhs(const Block& b, const ArrowBlock& own, double* rhs) {
    const int ny = Rows::num_aux(b);
    Vec4 reduction{};
    for (int j = 0; j < ny; ++j) {
      for (int l = 0; l < j; ++l) rhs[j] -= own.lu[ny * j + l] * rhs[l];
      reduction += rhs[j] * own.left[j];
    }
    return reduction;
  }

  /// g = -target s⁻¹ - M r, and -Sᵀ g - (c_y part), own variables reduced.
  static Vec4 reduced_rhs(Block& b, const ArrowBlock& own, double target, bool consistent) {
    const int ny = Rows::num_aux(b);
    for (int j = 0; j < ny; ++j) b.rhs[j] = b.cost_y != nullptr ? -b.cost_y[j] : 0.0;
    for (int i = 0; i < b.rows.num_orthant; i += 4) {
      // padding rows (z = 0) stay as they are
      store4(b.g + i, load4(b.z + i) > 0.0 ? -target / load4(b.s + i) : Vec4{});
    }
    for (int k = 0; k < b.rows.num_cones; ++k) b.cones[k].g = (-target / det(b.cones[k].s)) * reflect(b.cones[k].s);
    if (!consistent) {
      for (int i = 0; i < b.rows.num_orthant; i += 4) {
        store4(b.g + i, load4(b.g + i) - load4(b.weight + i) * load4(b.residual + i));
      }
      for (int k = 0; k < b.rows.num_cones; ++k) {
        ConeState<C>& cone = b.cones[k];
        cone.g = cone.g - ArrowQuotient<C>(cone.s, cone.z)(cone.residual);
      }
    }
    const Vec4 shared = Rows::transposed_g(b);
    return -shared - reduce_rhs(b, own, b.rhs);
  }

  /// dy, ds, dz of a full step; returns |ds ∘ dz|∞, infinite if the step leaves a cone.
  static double complete(Block& b, const ArrowBlock& own, Vec4 du, bool consistent) {
    const int ny = Rows::num_aux(b);
    for (int j = ny - 1; j >= 0; --j) {
      double value = b.rhs[j] - dot(own.right[j], du);
      for (int l = j + 1; l < ny; ++l) value -= own.lu[ny * j + l] * b.dy[l];
      b.dy[j] = value * own.lu[ny * j + j];
    }
    double error = 0.0;
    bool inside = true;
    if (b.rows.num_orthant > 0) {
      Vec4 worst{};
      Vec4 outside{};
      const typename Rows::OrthantProduct product(b, du, b.dy);
      for (int i = 0; i < b.rows.num_orthant; i += 4) {
        const Vec4 s = load4(b.s + i);
        const Vec4 z = load4(b.z + i);
        Vec4 ds = product(i);
        const Vec4 dz = -z - load4(b.weight + i) * ds - load4(b.g + i);
        if (!consistent) ds -= load4(b.residual + i);
        store4(b.ds + i, ds);
        store4(b.dz + i, dz);
        const Vec4 rest = ds * dz;
        worst = max(worst, max(rest, -rest));
        outside = max(outside, max(-(s + ds), -(z + dz)));
      }
      error = largest(worst);
      inside = largest(outside) == 0.0;
    }
    for (int k = 0; k < b.rows.num_cones; ++k) {
      ConeState<C>& cone = b.cones[k];
      cone.ds = Rows::cone_product(b, k, du, b.dy);
      cone.dz = -cone.z - ArrowQuotient<C>(cone.s, cone.z)(cone.ds) - cone.g;
      if (!consistent) cone.ds = cone.ds - cone.residual;
      const ConeVector<C> rest = jordan_product(cone.ds, cone.dz);
      error = std::max(error, std::sqrt(dot(rest, rest)));
      const ConeVector<C> s = cone.s + cone.ds;
      const ConeVector<C> z = cone.z + cone.dz;
      inside = inside && s.head() > 0.0 && z.head() > 0.0 && det(s) > 0.0 && det(z) > 0.0;
    }
    return inside && std::isfinite(error) ? error : std::numeric_limits<double>::infinity();
  }
};

/// The arrow system of a number of blocks at their current (s, z).
template <int C, int MaxBlocks>
class ArrowSystem {
 public:
  using Block = ConicBlock<C>;

  /// Factors Σ (reduced block matrices) - shift e₃ e₃ᵀ.
  void factor(Block* blocks, int num_blocks, double shift = 0.0) {
    SharedMatrix H{};
    for (int k = 0; k < num_blocks; ++k) {
      with_operations<ArrowOperations>(blocks[k], [&](auto operations) { operations.assemble(blocks[k], own_[k]); });
      for (int a = 0; a < kShared; ++a) H.row[a] += own_[k].reduced.row[a];
    }
    H.row[kShared - 1] -= Vec4{0, 0, 0, shift};
    lu_ = SharedLu(H);
  }
  /// du of the step towards s ∘ z = target e; affine in the target.
  [[nodiscard]] Vec4 direction(Block* blocks, int num_blocks, Vec4 cost, double target, bool consistent) {
    Vec4 rhs = -cost;
    for (int k = 0; k < num_blocks; ++k) {
      rhs += with_operations<ArrowOperations>(
          blocks[k], [&](auto operations) { return operations.reduced_rhs(blocks[k], own_[k], target, consistent); });
    }
    return lu_.solve(rhs);
  }
  /// Completes the step (after `direction` for the same target) without taking it; returns |s ∘ z - target e| after a
  /// full step, infinite if that leaves a cone.
  [[nodiscard]] double complete(Block* blocks, int num_blocks, Vec4 du, bool consistent) {
    double error = 0.0;
    for (int k = 0; k < num_blocks; ++k) {
      error = std::max(error, with_operations<ArrowOperations>(blocks[k], [&](auto operations) {
                         return operations.complete(blocks[k], own_[k], du, consistent);
                       }));
    }
    return error;
  }

  /// The block's matrix over the shared variables.
  [[nodiscard]] const SharedMatrix& reduced(int k) const { return own_[k].reduced; }
  [[nodiscard]] const SharedLu& factors() const { return lu_; }
  /// du for a right-hand side (shared, own of block k); `own` is overwritten.
  [[nodiscard]] Vec4 solve(const Block& block, int k, Vec4 shared, double* own) const {
    return lu_.solve(shared - with_operations<ArrowOperations>(
                                  block, [&](auto operations) { return operations.reduce_rhs(block, own_[k], own); }));
  }

 private:
  ArrowBlock own_[MaxBlocks];
  SharedLu lu_;
};

}  // namespace tangere
