#include "tangere/math/conic_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <new>
#include <utility>

#include "tangere/math/assert.hpp"
#include "tangere/math/block_memory.hpp"

namespace tangere {
namespace {

/// The numbers of a block begin behind the view, after whole cache lines.
constexpr std::size_t kLine = 64;
constexpr std::size_t kHeader = (sizeof(ConicRowsView) + kLine - 1) / kLine * kLine;

int padded(int n, int multiple) { return (n + multiple - 1) / multiple * multiple; }

/// Offsets of the arrays of ConicRowsView in one buffer.
struct Layout {
  int orthant_u, orthant_y, orthant_offset, orthant_rows_u, orthant_rows_y, aux_start;
  int cone_u, cone_y, cone_offset, form_uu, form_yu, form_yy, size;

  Layout(int ny, int m, int cones, int dimension) {
    int next = 0;
    const auto take = [&](int n) { return std::exchange(next, next + padded(n, kRowPadding)); };
    const int mp = padded(m, kRowPadding);
    orthant_rows_u = take(kShared * m);
    cone_u = take(cones * kShared * dimension);
    orthant_rows_y = take(ny * m);
    cone_y = take(cones * ny * dimension);
    aux_start = take(kShared * ny);
    orthant_u = take(kShared * mp);
    orthant_y = take(ny * mp);
    orthant_offset = take(mp);
    cone_offset = take(cones * dimension);
    form_uu = take(cones * kShared * kShared);
    form_yu = take(cones * ny * kShared);
    form_yy = take(cones * ny * ny);
    size = next;
  }
};

}  // namespace

ConicRows::ConicRows() {
  static constexpr ConicRowsView kNone;
  // without an owner
  view_ = {std::shared_ptr<const ConicRowsView>(), &kNone};
}

ConicRows::ConicRows(int num_aux, int num_orthant, int num_cones, MatrixX S, int cone_dimension)
    : ConicRows(num_aux, num_orthant, num_cones, std::move(S), cone_dimension, MatrixX4::Zero(num_aux, kShared)) {}

ConicRows::ConicRows(int num_aux, int num_orthant, int num_cones, MatrixX S, int cone_dimension,
                     const MatrixX4& aux_start)
    : S_(std::move(S)) {
  TANGERE_ASSERT(cone_dimension % 4 == 0);
  TANGERE_ASSERT(S_.rows() == num_orthant + cone_dimension * num_cones);
  TANGERE_ASSERT(S_.cols() == kShared + num_aux + 1);
  TANGERE_ASSERT(aux_start.rows() == num_aux);
  const Layout at(num_aux, num_orthant, num_cones, cone_dimension);
  const std::size_t size = kHeader + static_cast<std::size_t>(at.size) * sizeof(double);
  auto* memory = static_cast<std::byte*>(allocate_block(size));
  auto* view = new (memory) ConicRowsView;
  view_ = {view, [size](const ConicRowsView* block) { free_block(block, size); }};
  auto* out = reinterpret_cast<double*>(memory + kHeader);
  std::fill_n(out, at.size, 0.0);

  // orthant rows, by columns and by rows
  const int mp = padded(num_orthant, kRowPadding);
  for (int i = 0; i < num_orthant; ++i) {
    for (int a = 0; a < kShared; ++a) {
      out[at.orthant_u + a * mp + i] = S_(i, a);
      out[at.orthant_rows_u + kShared * i + a] = S_(i, a);
    }
    for (int j = 0; j < num_aux; ++j) {
      out[at.orthant_y + j * mp + i] = S_(i, kShared + j);
      out[at.orthant_rows_y + num_aux * i + j] = S_(i, kShared + j);
    }
    out[at.orthant_offset + i] = S_(i, kShared + num_aux);
  }
  // a padding row reads 0 u + 0 y + 1 ≥ 0
  for (int i = num_orthant; i < mp; ++i) out[at.orthant_offset + i] = 1.0;

  // cones, and their quadratic forms
  for (int k = 0; k < num_cones; ++k) {
    const MatrixX cone = S_.middleRows(num_orthant + cone_dimension * k, cone_dimension);
    MatrixX reflected = -cone;
    reflected.row(0) = cone.row(0);
    const MatrixX form = cone.transpose() * reflected;
    for (int i = 0; i < cone_dimension; ++i) {
      for (int a = 0; a < kShared; ++a) out[at.cone_u + (kShared * k + a) * cone_dimension + i] = cone(i, a);
      for (int j = 0; j < num_aux; ++j) out[at.cone_y + (num_aux * k + j) * cone_dimension + i] = cone(i, kShared + j);
      out[at.cone_offset + cone_dimension * k + i] = cone(i, kShared + num_aux);
    }
    for (int a = 0; a < kShared; ++a) {
      for (int b = 0; b < kShared; ++b) out[at.form_uu + (k * kShared + a) * kShared + b] = form(a, b);
      for (int j = 0; j < num_aux; ++j) out[at.form_yu + (k * num_aux + j) * kShared + a] = form(kShared + j, a);
    }
    for (int i = 0; i < num_aux; ++i) {
      for (int j = 0; j < num_aux; ++j)
        out[at.form_yy + (k * num_aux + i) * num_aux + j] = form(kShared + i, kShared + j);
    }
  }

  for (int a = 0; a < kShared; ++a)
    for (int j = 0; j < num_aux; ++j) out[at.aux_start + num_aux * a + j] = aux_start(j, a);

  const double* base = out;
  *view = {.num_aux = num_aux,
           .num_orthant = num_orthant,
           .padded_orthant = mp,
           .num_cones = num_cones,
           .cone_dimension = cone_dimension,
           .orthant_rows_u = base + at.orthant_rows_u,
           .orthant_rows_y = base + at.orthant_rows_y,
           .cone_u = base + at.cone_u,
           .cone_y = base + at.cone_y,
           .aux_start = base + at.aux_start,
           .cone_offset = base + at.cone_offset,
           .orthant_u = base + at.orthant_u,
           .orthant_y = base + at.orthant_y,
           .orthant_offset = base + at.orthant_offset,
           .form_uu = base + at.form_uu,
           .form_yu = base + at.form_yu,
           .form_yy = base + at.form_yy};
}

}  // namespace tangere
