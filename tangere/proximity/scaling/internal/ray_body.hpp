#pragma once

/// The body M = S_A ⊕ (-S_B) that the support route casts its ray on, as a sum of placed terms (private to proximity).
///
/// Coordinates: a frame whose z axis is the ray, that is the centre line from A to B (after a linear map where an
/// ellipsoid is made a ball). Every direction of interest has n·d > 0 and stands for (nx, ny, 1), so that there are two
/// unknowns; supports do not mind its length.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "tangere/geometry/support_terms.hpp"
#include "tangere/geometry/vertex_graph.hpp"
#include "tangere/math/vec.hpp"

namespace tangere {

/// A 3x3 matrix by columns.
struct Columns {
  Vec4 c[3];
};

[[nodiscard]] inline Columns load_columns(const Matrix3& M) {
  const double* m = M.data();
  return {{Vec4{m[0], m[1], m[2], 0.0}, Vec4{m[3], m[4], m[5], 0.0}, Vec4{m[6], m[7], m[8], 0.0}}};
}
[[nodiscard]] inline Columns transposed(const Columns& M) {
  const Vec4 low = __builtin_shufflevector(M.c[0], M.c[1], 0, 4, 2, 6);   // 00 01 20 21
  const Vec4 high = __builtin_shufflevector(M.c[0], M.c[1], 1, 5, 3, 7);  // 10 11 .. ..
  const Vec4 zero{};
  const Vec4 third_low = __builtin_shufflevector(M.c[2], zero, 0, 4, 2, 6);
  const Vec4 third_high = __builtin_shufflevector(M.c[2], zero, 1, 5, 3, 7);
  return {{__builtin_shufflevector(low, third_low, 0, 1, 4, 5), __builtin_shufflevector(high, third_high, 0, 1, 4, 5),
           __builtin_shufflevector(low, third_low, 2, 3, 6, 7)}};
}
/// M x.
[[nodiscard]] inline Vec4 product(const Columns& M, double x, double y, double z) {
  return M.c[0] * x + M.c[1] * y + M.c[2] * z;
}
[[nodiscard]] inline Columns product(const Columns& M, const Matrix3& N) {
  const double* n = N.data();
  return {{product(M, n[0], n[1], n[2]), product(M, n[3], n[4], n[5]), product(M, n[6], n[7], n[8])}};
}

/// A term with its axes (scaled, and reflected for B) in the frame of the ray: its points are columns * x.
struct PlacedTerm {
  SupportTerm::Kind kind;
  /// Terms of a shape's block, or its near terms: after the query only the block is sure to exist (derivatives of the
  /// distance look at it again).
  const SupportTerm* term;
  Columns columns;
  Columns rows;
};

/// A point of M with the part of A in it: v = a - b.
struct BodyPoint {
  Vec4 v{};
  Vec4 a{};

  BodyPoint() = default;
  BodyPoint(Vec4 of_M, Vec4 of_A) : v(of_M), a(of_A) {}
  // in two parts, as they were made: copied at once, g++ reads 64 bytes where two stores of 32 are still under way
  BodyPoint(const BodyPoint& other) : v(other.v), a(other.a) {}
  BodyPoint& operator=(const BodyPoint& other) {
    v = other.v;
    a = other.a;
    return *this;
  }
};

struct Direction {
  double x;
  double y;
  double z;
};

[[nodiscard]] inline double dot(Vec4 v, const Direction& n) { return v[0] * n.x + v[1] * n.y + v[2] * n.z; }

/// The square of a length that counts as zero: its inverse would overflow.
inline constexpr double kLeastSquare = 1e-300;
/// 1 / sqrt(x), the root and the division side by side instead of one after the other.
[[nodiscard]] inline double inverse_root(double x) { return std::sqrt(x) * (1.0 / x); }

/// (x², xy, y²) of the first two components; the fourth lane has no meaning.
[[nodiscard]] inline Vec4 plane_square(Vec4 t) {
  return __builtin_shufflevector(t, t, 0, 0, 1, 1) * __builtin_shufflevector(t, t, 0, 1, 1, 1);
}

/// One smooth piece of h_M: its gradient, which is the point itself, and its Hessian over two axes.
struct PieceValue {
  BodyPoint point;
  /// xx, xy, yy; the fourth lane has no meaning.
  Vec4 curvature;
};
/// As many pieces as can meet at a minimum over two unknowns.
inline constexpr int kMostPieces = 3;

class RayBody {
 public:
  std::vector<PlacedTerm> terms;
  int num_terms = 0;
  int num_terms_A = 0;
  BodyPoint center;
  double radius_A = 0.0;
  double radius_B = 0.0;

  void clear() {
    num_terms = num_terms_A = 0;
    center = BodyPoint{};
    radius_A = radius_B = 0.0;
  }
  /// Adds the terms of S (all but `left_out`) with the axes G: those of A first, then those of B.
  void add(const SupportTerms& S, const Columns& G, bool of_A, const SupportTerm* left_out = nullptr);

  [[nodiscard]] double radius() const { return radius_A + radius_B; }

  /// The farthest point along n of the terms, without the balls. With `pieces`: which smooth piece of each term.
  template <bool kPieces = false>
  [[nodiscard]] BodyPoint core_support(const Direction& n, int* pieces = nullptr) const {
    BodyPoint p = center;
    const PlacedTerm* placed = terms.data();
    for (int t = 0; t < num_terms; ++t) {
      const PlacedTerm& term = placed[t];
      const Vec4 m = product(term.rows, n.x, n.y, n.z);
      int piece = 0;
      const Vec4 q = farthest(term, m, piece);
      if constexpr (kPieces) pieces[t] = piece;
      p.v += q;
      if (t < num_terms_A) p.a += q;
    }
    return p;
  }

  /// The farthest point along n.
  [[nodiscard]] BodyPoint support(const Direction& n, int* pieces) const {
    BodyPoint p = core_support<true>(n, pieces);
    add_balls(n, p);
    return p;
  }

  /// The farthest point along n of all but one term, without the balls.
  [[nodiscard]] BodyPoint core_support_without(const Direction& n, int without) const {
    BodyPoint p = center;
    for (int t = 0; t < num_terms; ++t) {
      if (t == without) continue;
      const PlacedTerm& term = terms[t];
      int piece = 0;
      const Vec4 q = farthest(term, product(term.rows, n.x, n.y, n.z), piece);
      p.v += q;
      if (t < num_terms_A) p.a += q;
    }
    return p;
  }

  void add_balls(const Direction& n, BodyPoint& p) const {
    const double r = radius();
    if (r == 0.0) return;
    const Vec4 unit = Vec4{n.x, n.y, n.z, 0.0} * inverse_root(n.x * n.x + n.y * n.y + n.z * n.z);
    p.v += r * unit;
    p.a += radius_A * unit;
  }

  /// The point that `pieces` name, of a body of polytopes.
  [[nodiscard]] BodyPoint core_vertex(const int* pieces) const;
  /// The `count` smooth pieces of h_M that `named` lists, at n. Curvature is over two orthonormal axes: `project` gives
  /// a vector's components along them, in the first two lanes.
  template <class Project>
  void evaluate_pieces(const Direction& n, const int* const* named, int count, const Project& project,
                       PieceValue* out) const {
    if (count == 1) {
      evaluate<1>(n, named, project, out);
    } else if (count == 2) {
      evaluate<2>(n, named, project, out);
    } else {
      evaluate<kMostPieces>(n, named, project, out);
    }
  }

 private:
  [[nodiscard]] static Vec4 farthest(const PlacedTerm& placed, Vec4 m, int& piece);
  /// Corner `piece` of a polytope term.
  [[nodiscard]] static Vec4 corner(const PlacedTerm& placed, int piece);
  /// Pieces differ in few terms, and two discs of one term only in radius and place: what they share is computed once.
  template <int kCount, class Project>
  void evaluate(const Direction& n, const int* const* named, const Project& project, PieceValue* out) const;
};

/// The first support reads every vertex: ask for all of them now, as one after the other they would be waited for.
inline void prefetch_vertices(const SupportTerm& term) {
  // of a hull with edges few are looked at
  if (term.num_vertices >= kVertexGraphFrom) return;
  constexpr int kLineNumbers = 8;
  // of a large mesh only the start: the processor has no more requests under way
  constexpr int kMostNumbers = 40 * kLineNumbers;
  const int count = std::min(3 * term.padded_vertices, kMostNumbers);
  for (int i = 0; i < count; i += kLineNumbers) __builtin_prefetch(term.vertices + i);
}

inline void RayBody::add(const SupportTerms& S, const Columns& G, bool of_A, const SupportTerm* left_out) {
  if (terms.size() < static_cast<std::size_t>(num_terms + S.num_terms)) {
    terms.resize(static_cast<std::size_t>(num_terms + S.num_terms));
  }
  const SupportTerm* from = S.terms();
  for (int k = 0; k < S.num_terms; ++k, ++from) {
    if (from == left_out) continue;
    PlacedTerm& placed = terms[num_terms++];
    prefetch_vertices(*from);
    placed.kind = from->kind;
    placed.term = from;
    placed.columns = from->turned ? product(G, from->R()) : G;
    if (from->kind != SupportTerm::Kind::vertices && from->kind != SupportTerm::Kind::discs) {
      for (int i = 0; i < 3; ++i) placed.columns.c[i] *= from->size[i];
    }
    placed.rows = transposed(placed.columns);
  }
  const Vec4 c = product(G, S.center[0], S.center[1], S.center[2]);
  center.v += c;
  if (of_A) {
    center.a += c;
    num_terms_A = num_terms;
  }
}

/// Heights of a register full of vertices, and their indices.
#if defined(__AVX512F__)
using Heights = Vec8;
[[nodiscard]] inline Heights load_heights(const double* p) { return load8(p); }
#else
using Heights = Vec4;
[[nodiscard]] inline Heights load_heights(const double* p) { return load4(p); }
#endif
inline constexpr int kHeights = sizeof(Heights) / sizeof(double);

/// The larger of two lanes' values, with their indices.
template <class V, class I>
inline void keep_larger(V& value, I& index, V other, I other_index) {
  const I better = other > value;
  value = better ? other : value;
  index = better ? other_index : index;
}

/// The index of the largest x m₀ + y m₁ + z m₂ over a term's vertices.
[[nodiscard]] inline int farthest_vertex(const SupportTerm& term, Vec4 m) {
  using Indices = decltype(Heights{} > Heights{});
  // chains of comparisons side by side, so that none waits for the last
  static_assert(SupportTerm::kVertexPadding == 8);
  constexpr int kChains = SupportTerm::kVertexPadding / kHeights;
  const int count = term.padded_vertices;
  const double* x = term.vertices;
  const double* y = x + count;
  const double* z = y + count;
  const double m0 = m[0], m1 = m[1], m2 = m[2];
  const auto heights = [&](int i) -> Heights {
    return load_heights(x + i) * m0 + load_heights(y + i) * m1 + load_heights(z + i) * m2;
  };
  Heights best[kChains];
  Indices where[kChains];
  Indices at[kChains];
  for (int c = 0; c < kChains; ++c) {
    best[c] = heights(kHeights * c);
    for (int l = 0; l < kHeights; ++l) at[c][l] = kHeights * c + l;
    where[c] = at[c];
  }
  for (int i = SupportTerm::kVertexPadding; i < count; i += SupportTerm::kVertexPadding) {
    for (int c = 0; c < kChains; ++c) {
      at[c] += SupportTerm::kVertexPadding;
      keep_larger(best[c], where[c], heights(i + kHeights * c), at[c]);
    }
  }
  using Index4 = decltype(Vec4{} > Vec4{});
  using Vec2 = double __attribute__((vector_size(16)));
  using Index2 = decltype(Vec2{} > Vec2{});
#if defined(__AVX512F__)
  Vec4 best4 = low_half(best[0]);
  Index4 where4 = __builtin_shufflevector(where[0], where[0], 0, 1, 2, 3);
  keep_larger(best4, where4, high_half(best[0]), Index4(__builtin_shufflevector(where[0], where[0], 4, 5, 6, 7)));
#else
  Vec4 best4 = best[0];
  Index4 where4 = where[0];
  keep_larger(best4, where4, best[1], where[1]);
#endif
  Vec2 best2 = __builtin_shufflevector(best4, best4, 0, 1);
  Index2 where2 = __builtin_shufflevector(where4, where4, 0, 1);
  keep_larger(best2, where2, Vec2(__builtin_shufflevector(best4, best4, 2, 3)),
              Index2(__builtin_shufflevector(where4, where4, 2, 3)));
  return static_cast<int>(best2[1] > best2[0] ? where2[1] : where2[0]);
}

/// The same by walking uphill along the hull's edges.
[[nodiscard]] inline int highest_vertex(const VertexGraph& graph, Vec4 m) {
  const Vec4 n{m[0], m[1], m[2], 0.0};
  int at = graph.start[direction_cell(graph.resolution, m[0], m[1], m[2])];
  double best = sum(load4(graph.points + 4 * at) * n);
  for (;;) {
    int next = at;
    for (int k = graph.first[at]; k < graph.first[at + 1]; ++k) {
      const int other = graph.neighbours[k];
      const double height = sum(load4(graph.points + 4 * other) * n);
      if (!(height > best)) continue;
      best = height;
      next = other;
    }
    if (next == at) return at;
    at = next;
  }
}

inline Vec4 RayBody::farthest(const PlacedTerm& placed, Vec4 m, int& piece) {
  const Vec4* c = placed.columns.c;
  switch (placed.kind) {
    case SupportTerm::Kind::segment:
      piece = m[0] > 0.0;
      return m[0] > 0.0 ? c[0] : -c[0];
    case SupportTerm::Kind::box: {
      const Vec4 sign = m > 0.0 ? splat4(1.0) : splat4(-1.0);
      piece = (m[0] > 0.0) + 2 * (m[1] > 0.0) + 4 * (m[2] > 0.0);
      return c[0] * sign[0] + c[1] * sign[1] + c[2] * sign[2];
    }
    case SupportTerm::Kind::vertices: {
      const SupportTerm& term = *placed.term;
      const VertexGraph* graph = graph_of(term);
      const int i = graph == nullptr ? farthest_vertex(term, m) : highest_vertex(*graph, m);
      const double* x = term.vertices + i;
      piece = i;
      return c[0] * x[0] + c[1] * x[term.padded_vertices] + c[2] * x[2 * term.padded_vertices];
    }
    case SupportTerm::Kind::discs: {
      const SupportTerm& term = *placed.term;
      const double across2 = m[1] * m[1] + m[2] * m[2];
      const double across = std::sqrt(across2);
      const double first = term.size[0] * m[0] + term.size[2] * across;
      const double second = term.size[1] * m[0] + term.size[3] * across;
      piece = second > first;
      const double scale = across2 > kLeastSquare ? term.size[2 + piece] * (across * (1.0 / across2)) : 0.0;
      return c[0] * term.size[piece] + (c[1] * m[1] + c[2] * m[2]) * scale;
    }
    default: {
      return (c[0] * m[0] + c[1] * m[1] + c[2] * m[2]) * inverse_root(m[0] * m[0] + m[1] * m[1] + m[2] * m[2]);
    }
  }
}

inline Vec4 RayBody::corner(const PlacedTerm& placed, int piece) {
  const Vec4* c = placed.columns.c;
  switch (placed.kind) {
    case SupportTerm::Kind::segment:
      return piece != 0 ? c[0] : -c[0];
    case SupportTerm::Kind::box:
      return ((piece & 1) != 0 ? c[0] : -c[0]) + ((piece & 2) != 0 ? c[1] : -c[1]) + ((piece & 4) != 0 ? c[2] : -c[2]);
    default: {
      const double* x = placed.term->vertices + piece;
      return product(placed.columns, x[0], x[placed.term->padded_vertices], x[2 * placed.term->padded_vertices]);
    }
  }
}

inline BodyPoint RayBody::core_vertex(const int* pieces) const {
  BodyPoint out = center;
  for (int t = 0; t < num_terms; ++t) {
    const Vec4 p = corner(terms[t], pieces[t]);
    out.v += p;
    if (t < num_terms_A) out.a += p;
  }
  return out;
}

template <int kCount, class Project>
inline void RayBody::evaluate(const Direction& n, const int* const* named, const Project& project,
                              PieceValue* out) const {
  PieceValue value[kCount];
  for (PieceValue& piece : value) piece = {center, Vec4{}};
  const auto add = [&](int i, Vec4 p, bool of_A) {
    value[i].point.v += p;
    if (of_A) value[i].point.a += p;
  };
  const PlacedTerm* placed = terms.data();
  for (int t = 0; t < num_terms; ++t, ++placed) {
    const bool of_A = t < num_terms_A;
    const Vec4* c = placed->columns.c;
    if (placed->kind == SupportTerm::Kind::discs) {
      const Vec4 m = product(placed->rows, n.x, n.y, n.z);
      const double across2 = m[1] * m[1] + m[2] * m[2];
      const double inverse = across2 > kLeastSquare ? inverse_root(across2) : 0.0;
      const Vec4 outwards = (c[1] * m[1] + c[2] * m[2]) * inverse;
      const Vec4 around = (c[2] * m[1] - c[1] * m[2]) * inverse;
      const Vec4 curvature = plane_square(project(around)) * inverse;
      const double* size = placed->term->size;
      for (int i = 0; i < kCount; ++i) {
        const int disc = named[i][t];
        const double radius = size[2 + disc];
        add(i, c[0] * size[disc] + outwards * radius, of_A);
        value[i].curvature += curvature * radius;
      }
    } else if (placed->kind == SupportTerm::Kind::ellipsoid) {
      const Vec4 m = product(placed->rows, n.x, n.y, n.z);
      const double inverse = inverse_root(m[0] * m[0] + m[1] * m[1] + m[2] * m[2]);
      const Vec4 p = product(placed->columns, m[0], m[1], m[2]) * inverse;
      const Vec4 curvature = (plane_square(project(c[0])) + plane_square(project(c[1])) + plane_square(project(c[2])) -
                              plane_square(project(p))) *
                             inverse;
      for (int i = 0; i < kCount; ++i) {
        add(i, p, of_A);
        value[i].curvature += curvature;
      }
    } else {
      for (int i = 0; i < kCount; ++i) add(i, corner(*placed, named[i][t]), of_A);
    }
  }
  if (const double r = radius(); r > 0.0) {
    const double inverse = inverse_root(n.x * n.x + n.y * n.y + n.z * n.z);
    const Vec4 unit = Vec4{n.x, n.y, n.z, 0.0} * inverse;
    const Vec4 curvature = (Vec4{1.0, 0.0, 1.0, 0.0} - plane_square(project(unit))) * (r * inverse);
    for (PieceValue& piece : value) {
      piece.point.v += r * unit;
      piece.point.a += radius_A * unit;
      piece.curvature += curvature;
    }
  }
  for (int i = 0; i < kCount; ++i) out[i] = value[i];
}

}  // namespace tangere
