#include "tangere/contact/smooth/internal/smooth_side.hpp"

#include <algorithm>
#include <cmath>

#include "tangere/math/assert.hpp"
#include "tangere/math/small_lu.hpp"
#include "tangere/solvers/ncp/cone_product.hpp"

namespace tangere {
namespace {

constexpr int kC = 4;

/// Θ = arrow(s)⁻¹ arrow(z) of a cone applied to four numbers.
inline void apply_theta(const double* s, double det_s, const double* z, const double* v, double* out) {
  double product[kC];
  cone_product(z, v, kC, product);
  cone_divide(s, det_s, product, kC, out);
}

}  // namespace

void SmoothSide::set(const ConvexSet& shape, double inverse_length, const Vector3& pull) {
  shape_ = &shape;
  rows_ = shape.rows.view();
  TANGERE_ASSERT(rows_.cone_dimension == kC);
  TANGERE_ASSERT(rows_.num_aux <= kMaxAux);
  inverse_length_ = inverse_length;
  pull_ = pull;
}

/// S (u, y) without s_0, u with α as the fourth entry.
void SmoothSide::rows_at(const Vector4& u, const double* y, double* out) const {
  const int ny = rows_.num_aux;
  for (int i = 0; i < rows_.num_orthant; ++i) {
    const double* row = rows_.orthant_rows_u + 4 * i;
    double sum = row[0] * u[0] + row[1] * u[1] + row[2] * u[2] + row[3] * u[3];
    for (int k = 0; k < ny; ++k) sum += rows_.orthant_rows_y[ny * i + k] * y[k];
    out[i] = sum;
  }
  double* cone = out + rows_.num_orthant;
  for (int c = 0; c < rows_.num_cones; ++c, cone += kC) {
    const double* S = rows_.cone_u + 16 * c;
    for (int i = 0; i < kC; ++i) cone[i] = S[i] * u[0] + S[4 + i] * u[1] + S[8 + i] * u[2] + S[12 + i] * u[3];
    const double* Sy = rows_.cone_y + 4 * ny * c;
    for (int k = 0; k < ny; ++k)
      for (int i = 0; i < kC; ++i) cone[i] += Sy[4 * k + i] * y[k];
  }
}

/// (u, y) += Sᵀ z.
void SmoothSide::add_transposed(const double* z, Vector4& u, double* y) const {
  const int ny = rows_.num_aux;
  for (int i = 0; i < rows_.num_orthant; ++i) {
    const double* row = rows_.orthant_rows_u + 4 * i;
    for (int k = 0; k < 4; ++k) u[k] += row[k] * z[i];
    for (int k = 0; k < ny; ++k) y[k] += rows_.orthant_rows_y[ny * i + k] * z[i];
  }
  const double* cone = z + rows_.num_orthant;
  for (int c = 0; c < rows_.num_cones; ++c, cone += kC) {
    const double* S = rows_.cone_u + 16 * c;
    for (int k = 0; k < 4; ++k)
      for (int i = 0; i < kC; ++i) u[k] += S[4 * k + i] * cone[i];
    const double* Sy = rows_.cone_y + 4 * ny * c;
    for (int k = 0; k < ny; ++k)
      for (int i = 0; i < kC; ++i) y[k] += Sy[4 * k + i] * cone[i];
  }
}

void SmoothSide::start(const Vector3& x, double alpha, double nu) {
  // α in the rows' own metres over l: the rows are S_p p + (S_α / l) α
  const Vector3 p = X.R.transpose() * (x - X.p);
  const Vector4 u(p[0], p[1], p[2], alpha * inverse_length_);
  for (int k = 0; k < rows_.num_aux; ++k)
    at_.y[k] = shape_->aux_start(k, 0) * u[0] + shape_->aux_start(k, 1) * u[1] + shape_->aux_start(k, 2) * u[2] +
               shape_->aux_start(k, 3) * u[3];
  rows_at(u, at_.y, at_.s);
  for (int i = 0; i < rows_.num_orthant; ++i) {
    at_.s[i] = std::max(at_.s[i] + rows_.orthant_offset[i] * inverse_length_, 0.1);
    at_.z[i] = nu / at_.s[i];
  }
  for (int c = 0; c < rows_.num_cones; ++c) {
    double* s = at_.s + rows_.num_orthant + kC * c;
    double* z = at_.z + rows_.num_orthant + kC * c;
    for (int i = 0; i < kC; ++i) s[i] += rows_.cone_offset[kC * c + i] * inverse_length_;
    s[0] = std::max(s[0], 1.05 * tail_norm(s, kC) + 0.05);
    const double scale = nu / cone_determinant(s, kC);
    z[0] = scale * s[0];
    for (int i = 1; i < kC; ++i) z[i] = -scale * s[i];
  }
}

void SmoothSide::start_at_ones(const Vector3& x, double alpha, const Vector3& towards) {
  start(x, alpha, 1.0);
  const Vector3 along = X.R.transpose() * towards;
  for (int i = 0; i < rows_.num_orthant; ++i) {
    const double* row = rows_.orthant_rows_u + 4 * i;
    at_.s[i] = 1.0;
    at_.z[i] = 1.0 + 0.5 * std::clamp(row[0] * along[0] + row[1] * along[1] + row[2] * along[2], -1.0, 1.0);
  }
  for (int c = 0; c < rows_.num_cones; ++c) {
    double* s = at_.s + rows_.num_orthant + kC * c;
    double* z = at_.z + rows_.num_orthant + kC * c;
    const double* S = rows_.cone_u + 16 * c;
    double tilt[kC];
    for (int i = 0; i < kC; ++i) tilt[i] = S[i] * along[0] + S[4 + i] * along[1] + S[8 + i] * along[2];
    const double size = std::max(tail_norm(tilt, kC), 1e-12);
    s[0] = z[0] = 1.0;
    for (int i = 1; i < kC; ++i) {
      s[i] = 0.0;
      z[i] = 0.5 * tilt[i] / size;
    }
    // a row that is zero (3-cones) stays so
  }
}

double SmoothSide::evaluate(const Vector3& x, double alpha) {
  const Vector3 p = X.R.transpose() * (x - X.p);
  u_ << p[0], p[1], p[2], alpha * inverse_length_;
  const int ny = rows_.num_aux;
  const int m = rows_.num_orthant;
  double worst = 0.0;
  rows_at(u_, at_.y, at_.r_s);
  for (int i = 0; i < m; ++i) at_.r_s[i] = at_.s[i] - at_.r_s[i] - rows_.orthant_offset[i] * inverse_length_;
  for (int i = 0; i < kC * rows_.num_cones; ++i)
    at_.r_s[m + i] = at_.s[m + i] - at_.r_s[m + i] - rows_.cone_offset[i] * inverse_length_;
  for (int i = 0; i < num_rows(rows_); ++i) worst = larger_norm(worst, std::abs(at_.r_s[i]));

  Vector4 g = Vector4::Zero();
  std::fill(at_.r_y, at_.r_y + ny, 0.0);
  add_transposed(at_.z, g, at_.r_y);
  for (int k = 0; k < ny; ++k) worst = larger_norm(worst, std::abs(at_.r_y[k]));
  f = X.R * (g.head<3>() - pull_);
  a = g[3] * inverse_length_;
  return worst;
}

bool SmoothSide::factor() {
  const int ny = rows_.num_aux;
  double* Hyy = at_.scratch;
  double* Huy = Hyy + ny * ny;  // 4 x ny
  double* Hyu = Huy + 4 * ny;   // ny x 4
  std::fill(at_.scratch, at_.scratch + num_scratch(rows_), 0.0);
  double L[16] = {};

  for (int i = 0; i < rows_.num_orthant; ++i) {
    const double theta = at_.z[i] / at_.s[i];
    const double* row = rows_.orthant_rows_u + 4 * i;
    for (int j = 0; j < 4; ++j) {
      const double t = theta * row[j];
      for (int k = 0; k < 4; ++k) L[4 * j + k] += t * row[k];
    }
    if (ny == 0) continue;
    const double* row_y = rows_.orthant_rows_y + ny * i;
    for (int j = 0; j < ny; ++j) {
      const double t = theta * row_y[j];
      if (t == 0.0) continue;
      for (int k = 0; k < ny; ++k) Hyy[ny * j + k] += t * row_y[k];
      for (int k = 0; k < 4; ++k) {
        Huy[ny * k + j] += t * row[k];
        Hyu[4 * j + k] += t * row[k];
      }
    }
  }
  for (int c = 0; c < rows_.num_cones; ++c) {
    const double* s = at_.s + rows_.num_orthant + kC * c;
    const double* z = at_.z + rows_.num_orthant + kC * c;
    const double det = cone_determinant(s, kC);
    const double* S = rows_.cone_u + 16 * c;
    const double* Sy = rows_.cone_y + 4 * ny * c;
    double t[kC];
    for (int k = 0; k < 4 + ny; ++k) {
      apply_theta(s, det, z, k < 4 ? S + 4 * k : Sy + 4 * (k - 4), t);
      for (int j = 0; j < 4; ++j) {
        const double* column = S + 4 * j;
        const double value = column[0] * t[0] + column[1] * t[1] + column[2] * t[2] + column[3] * t[3];
        (k < 4 ? L[4 * j + k] : Huy[ny * j + k - 4]) += value;
      }
      for (int j = 0; j < ny; ++j) {
        const double* column = Sy + 4 * j;
        const double value = column[0] * t[0] + column[1] * t[1] + column[2] * t[2] + column[3] * t[3];
        (k < 4 ? Hyu[4 * j + k] : Hyy[ny * j + k - 4]) += value;
      }
    }
  }

  // y out: Hyu becomes Hyy⁻¹ Hyu
  if (ny > 0) {
    int pivots[kMaxAux];
    if (!lu_factor(Hyy, ny, ny, pivots)) return false;
    lu_solve(Hyy, ny, ny, pivots, Hyu, 4, 4);
    for (int j = 0; j < 4; ++j)
      for (int i = 0; i < ny; ++i)
        for (int k = 0; k < 4; ++k) L[4 * j + k] -= Huy[ny * j + i] * Hyu[4 * i + k];
    std::copy(pivots, pivots + ny, pivots_.begin());
  }

  // into world axes; α in units
  const Eigen::Map<const Eigen::Matrix<double, 4, 4, Eigen::RowMajor>> local(L);
  const Matrix3 half = X.R * local.topLeftCorner<3, 3>();
  H.topLeftCorner<3, 3>().noalias() = half * X.R.transpose();
  H.topRightCorner<3, 1>() = inverse_length_ * (X.R * local.topRightCorner<3, 1>());
  H.bottomLeftCorner<1, 3>() = (inverse_length_ * (X.R * local.bottomLeftCorner<1, 3>().transpose())).transpose();
  H(3, 3) = inverse_length_ * inverse_length_ * local(3, 3);
  return true;
}

void SmoothSide::forces(const double* r, Vector4& g) {
  const int ny = rows_.num_aux;
  const int m = rows_.num_orthant;
  Vector4 u = Vector4::Zero();
  std::copy(at_.r_y, at_.r_y + ny, at_.y_0);
  double t[kC];
  for (int i = 0; i < m; ++i) {
    t[0] = (r[i] + at_.z[i] * at_.r_s[i]) / at_.s[i];
    const double* row = rows_.orthant_rows_u + 4 * i;
    for (int k = 0; k < 4; ++k) u[k] += row[k] * t[0];
    for (int k = 0; k < ny; ++k) at_.y_0[k] += rows_.orthant_rows_y[ny * i + k] * t[0];
  }
  for (int c = 0; c < rows_.num_cones; ++c) {
    const int at = m + kC * c;
    double product[kC];
    cone_product(at_.z + at, at_.r_s + at, kC, product);
    for (int i = 0; i < kC; ++i) product[i] += r[at + i];
    cone_divide(at_.s + at, cone_determinant(at_.s + at, kC), product, kC, t);
    const double* S = rows_.cone_u + 16 * c;
    for (int k = 0; k < 4; ++k)
      for (int i = 0; i < kC; ++i) u[k] += S[4 * k + i] * t[i];
    const double* Sy = rows_.cone_y + 4 * ny * c;
    for (int k = 0; k < ny; ++k)
      for (int i = 0; i < kC; ++i) at_.y_0[k] += Sy[4 * k + i] * t[i];
  }
  if (ny > 0) {
    lu_solve(at_.scratch, ny, ny, pivots_.data(), at_.y_0);
    const double* Huy = at_.scratch + ny * ny;
    for (int j = 0; j < 4; ++j)
      for (int k = 0; k < ny; ++k) u[j] -= Huy[ny * j + k] * at_.y_0[k];
  }
  g.head<3>() = X.R * u.head<3>();
  g[3] = inverse_length_ * u[3];
}

Vector4 SmoothSide::parameter_forces(int parameter) {
  const int ny = rows_.num_aux;
  const int count = num_rows(rows_);
  std::fill(at_.r_s, at_.r_s + count, 0.0);
  std::fill(at_.r_y, at_.r_y + ny, 0.0);
  Vector4 direct = Vector4::Zero();
  for (const RowDerivative& entry : shape_->derivatives) {
    if (entry.parameter != parameter) continue;
    // columns: p, α, y, and the constant, which is a length
    double variable = inverse_length_;
    if (entry.column < 4) variable = u_[entry.column];
    if (entry.column >= 4 && entry.column < 4 + ny) variable = at_.y[entry.column - 4];
    at_.r_s[entry.row] -= entry.value * variable;
    const double force = entry.value * at_.z[entry.row];
    if (entry.column < 4) direct[entry.column] += force;
    if (entry.column >= 4 && entry.column < 4 + ny) at_.r_y[entry.column - 4] += force;
  }
  parameter_zero_.assign(static_cast<std::size_t>(count), 0.0);
  Vector4 g;
  forces(parameter_zero_.data(), g);
  g.head<3>() += X.R * direct.head<3>();
  g[3] += inverse_length_ * direct[3];
  return g;
}

void SmoothSide::recover(const double* r, const Vector3& dx, double dalpha, double* dz, double* ds, double* dy) const {
  const int ny = rows_.num_aux;
  const int m = rows_.num_orthant;
  const Vector3 dp = X.R.transpose() * dx;
  const Vector4 du(dp[0], dp[1], dp[2], dalpha * inverse_length_);
  const double* Hyu = at_.scratch + ny * (ny + 4);
  for (int k = 0; k < ny; ++k) {
    dy[k] = at_.y_0[k];
    for (int j = 0; j < 4; ++j) dy[k] -= Hyu[4 * k + j] * du[j];
  }
  rows_at(du, dy, ds);
  for (int i = 0; i < num_rows(rows_); ++i) ds[i] -= at_.r_s[i];
  for (int i = 0; i < m; ++i) dz[i] = (r[i] - at_.z[i] * ds[i]) / at_.s[i];
  for (int c = 0; c < rows_.num_cones; ++c) {
    const int at = m + kC * c;
    double product[kC];
    cone_product(at_.z + at, ds + at, kC, product);
    for (int i = 0; i < kC; ++i) product[i] = r[at + i] - product[i];
    cone_divide(at_.s + at, cone_determinant(at_.s + at, kC), product, kC, dz + at);
  }
}

}  // namespace tangere
