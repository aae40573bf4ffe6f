#include "tangere/proximity/distance_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tangere {
namespace {

constexpr int kMostSupports = 128;
constexpr double kNewtonBelow = 0.1;
constexpr int kNewtonSteps = 12;
constexpr double kLeastCurvature = 1e-9;
constexpr double kContraction = 0.5;
constexpr double kStraight = 1e-11;
constexpr double kNewtonAccuracy = 1e-9;
/// Other local answers are excluded up to this, where faces cannot be followed to the end.
constexpr double kCurvedGap = 1e-3;
/// Faces that could hide an answer this much shallower are not followed further: Newton's method from each of them
/// says.
constexpr double kCheckedGap = 5e-2;
/// How much nearer than before rounding may make a face.
constexpr double kSliver = 1e-12;
/// One less the cosine between normals of one plane.
constexpr double kSamePlane = 1e-9;
/// How far d may be from straight below its foot, for the foot to count.
constexpr double kOptimal = 1e-7;
/// Nearer to M than this part of its size counts as touching.
constexpr double kTouching = 1e-15;

double dot3(Vec4 a, Vec4 b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Vec4 cross3(Vec4 a, Vec4 b) {
  return Vec4{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0], 0.0};
}
Vec4 to_vec(const Direction& n) { return Vec4{n.x, n.y, n.z, 0.0}; }
Direction unit(Vec4 v, double length) { return {v[0] / length, v[1] / length, v[2] / length}; }

/// Two axes across a unit vector.
struct Across {
  Vec4 x;
  Vec4 y;
  explicit Across(const Direction& n) {
    const double sign = std::copysign(1.0, n.z);
    const double a = -1.0 / (sign + n.z);
    const double b = n.x * n.y * a;
    x = Vec4{1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x, 0.0};
    y = Vec4{b, sign + n.y * n.y * a, -n.y, 0.0};
  }
};

/// The point of the triangle 0, a, b (three corners p) nearest to the origin: its weights, zero where a corner does not
/// count.
void nearest_on_triangle(const Vec4* p, double* w) {
  const Vec4 ab = p[1] - p[0];
  const Vec4 ac = p[2] - p[0];
  const double d1 = -dot3(ab, p[0]);
  const double d2 = -dot3(ac, p[0]);
  w[0] = w[1] = w[2] = 0.0;
  if (d1 <= 0.0 && d2 <= 0.0) {
    w[0] = 1.0;
    return;
  }
  const double d3 = -dot3(ab, p[1]);
  const double d4 = -dot3(ac, p[1]);
  if (d3 >= 0.0 && d4 <= d3) {
    w[1] = 1.0;
    return;
  }
  const double d5 = -dot3(ab, p[2]);
  const double d6 = -dot3(ac, p[2]);
  if (d6 >= 0.0 && d5 <= d6) {
    w[2] = 1.0;
    return;
  }
  const Vec4 normal = cross3(ab, ac);
  // signed areas seen along the normal
  const double vc = dot3(normal, cross3(p[0], p[1]));
  const double va = dot3(normal, cross3(p[1], p[2]));
  const double vb = dot3(normal, cross3(p[2], p[0]));
  if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0) {
    w[1] = d1 / (d1 - d3);
    w[0] = 1.0 - w[1];
    return;
  }
  if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0) {
    w[2] = d2 / (d2 - d6);
    w[0] = 1.0 - w[2];
    return;
  }
  if (va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0) {
    w[2] = (d4 - d3) / ((d4 - d3) + (d5 - d6));
    w[1] = 1.0 - w[2];
    return;
  }
  const double total = va + vb + vc;
  w[0] = va / total;
  w[1] = vb / total;
  w[2] = vc / total;
}

}  // namespace

int DistanceSearch::add_support(const Direction& n, DistanceHit& hit) {
  ++hit.supports;
  const int slot = num_vertices_++;
  vertices_[static_cast<std::size_t>(slot)] = body.core_support<true>(n, pieces_.data() + slot * body.num_terms);
  return slot;
}

bool DistanceSearch::reduce(Simplex& simplex) const {
  Vec4 p[4];
  for (int i = 0; i < simplex.count; ++i) p[i] = from_d(simplex.slot[i]);
  double* w = simplex.weight;
  switch (simplex.count) {
    case 1:
      w[0] = 1.0;
      return true;
    case 2: {
      const Vec4 e = p[1] - p[0];
      const double along = -dot3(p[0], e);
      const double length2 = dot3(e, e);
      w[1] = along <= 0.0 ? 0.0 : along >= length2 ? 1.0 : along / length2;
      w[0] = 1.0 - w[1];
      break;
    }
    case 3:
      nearest_on_triangle(p, w);
      break;
    default: {
      // the nearest of the faces that d is outside of; the newest corner is 3
      const int faces[4][4] = {{0, 1, 3, 2}, {1, 2, 3, 0}, {2, 0, 3, 1}, {0, 2, 1, 3}};
      double nearest = std::numeric_limits<double>::infinity();
      Simplex best;
      for (const auto& face : faces) {
        const Vec4 corners[3] = {p[face[0]], p[face[1]], p[face[2]]};
        const Vec4 normal = cross3(corners[1] - corners[0], corners[2] - corners[0]);
        const double opposite = dot3(normal, p[face[3]] - corners[0]);
        const double origin = -dot3(normal, corners[0]);
        if (opposite * origin > 0.0) continue;
        double weights[3];
        nearest_on_triangle(corners, weights);
        const Vec4 y = weights[0] * corners[0] + weights[1] * corners[1] + weights[2] * corners[2];
        if (const double distance2 = dot3(y, y); distance2 < nearest) {
          nearest = distance2;
          best.count = 3;
          for (int i = 0; i < 3; ++i) {
            best.slot[i] = simplex.slot[face[i]];
            best.weight[i] = weights[i];
          }
        }
      }
      if (best.count == 0) return false;
      simplex = best;
      break;
    }
  }
  // drop the corners that do not count
  int kept = 0;
  for (int i = 0; i < simplex.count; ++i) {
    if (simplex.weight[i] <= 0.0) continue;
    simplex.slot[kept] = simplex.slot[i];
    simplex.weight[kept++] = simplex.weight[i];
  }
  simplex.count = kept;
  return true;
}

void DistanceSearch::read(const Simplex& simplex, DistanceHit& hit) const {
  hit.point = BodyPoint{};
  hit.num_pieces = 0;
  for (int i = 0; i < simplex.count; ++i) {
    if (!(simplex.weight[i] > 0.0)) continue;
    const BodyPoint& p = vertices_[static_cast<std::size_t>(simplex.slot[i])];
    hit.point.v += simplex.weight[i] * p.v;
    hit.point.a += simplex.weight[i] * p.a;
    hit.slots[hit.num_pieces] = simplex.slot[i];
    hit.weights[hit.num_pieces++] = simplex.weight[i];
  }
}

bool DistanceSearch::newton(Direction n, const int* corners, int count, DistanceHit& hit) {
  int slots[3];
  int active = 0;
  for (int c = 0; c < count; ++c) {
    bool seen = false;
    for (int i = 0; i < active; ++i) {
      seen = seen || std::equal(pieces(slots[i]), pieces(slots[i]) + body.num_terms, pieces(corners[c]));
    }
    if (!seen && active < 3) slots[active++] = corners[c];
  }
  PieceValue value[3];
  double weight[3] = {1.0, 0.0, 0.0};
  double last = std::numeric_limits<double>::infinity();
  bool converged = false;
  for (int step = 0; step <= kNewtonSteps; ++step) {
    const Across axes(n);
    const Vec4 nv = to_vec(n);
    double phi[3];
    double gx[3];
    double gy[3];
    const auto project = [&](Vec4 t, double& x, double& y) {
      x = dot3(t, axes.x);
      y = dot3(t, axes.y);
    };
    for (int i = 0; i < active; ++i) {
      value[i] = body.piece(n, pieces(slots[i]), project);
      const Vec4 q = value[i].point.v - d;
      phi[i] = dot3(q, nv);
      gx[i] = dot3(q, axes.x);
      gy[i] = dot3(q, axes.y);
      value[i].xx -= phi[i];
      value[i].yy -= phi[i];
    }
    const auto drop = [&](int i) {
      --active;
      for (int k = i; k < active; ++k) {
        slots[k] = slots[k + 1];
        value[k] = value[k + 1];
        phi[k] = phi[k + 1];
        gx[k] = gx[k + 1];
        gy[k] = gy[k + 1];
      }
    };
    double dx = 0.0;
    double dy = 0.0;
    if (active == 3) {
      const double ex = gx[1] - gx[0], ey = gy[1] - gy[0];
      const double fx = gx[2] - gx[0], fy = gy[2] - gy[0];
      const double det = ex * fy - ey * fx;
      if (det == 0.0) return false;
      const double w0 = (gx[1] * gy[2] - gy[1] * gx[2]) / det;
      const double w1 = (gx[2] * gy[0] - gy[2] * gx[0]) / det;
      const double w2 = 1.0 - w0 - w1;
      const double least = std::min(w0, std::min(w1, w2));
      if (least < 0.0) {
        drop(least == w0 ? 0 : least == w1 ? 1 : 2);
      } else {
        weight[0] = w0;
        weight[1] = w1;
        weight[2] = w2;
        const double r1 = phi[0] - phi[1];
        const double r2 = phi[0] - phi[2];
        dx = (r1 * fy - r2 * ey) / det;
        dy = (ex * r2 - fx * r1) / det;
      }
    }
    if (active == 2) {
      const double x = gx[0] - gx[1];
      const double y = gy[0] - gy[1];
      const double g2 = x * x + y * y;
      if (!(g2 > 0.0)) return false;
      const double w0 = -(gx[1] * x + gy[1] * y) / g2;
      if (w0 < 0.0 || w0 > 1.0) {
        drop(w0 < 0.0 ? 0 : 1);
      } else {
        weight[0] = w0;
        weight[1] = 1.0 - w0;
        const double back = (phi[1] - phi[0]) / g2;
        const double px = back * x;
        const double py = back * y;
        const double tx = -y;
        const double ty = x;
        double slope = 0.0;
        double curvature = 0.0;
        for (int i = 0; i < 2; ++i) {
          const PieceValue& q = value[i];
          const double Hx = q.xx * tx + q.xy * ty;
          const double Hy = q.xy * tx + q.yy * ty;
          slope += weight[i] * (gx[i] * tx + gy[i] * ty + Hx * px + Hy * py);
          curvature += weight[i] * (Hx * tx + Hy * ty);
        }
        if (curvature > 0.0) {
          const double s = -slope / curvature;
          dx = px + s * tx;
          dy = py + s * ty;
        } else {
          // inside, a ridge may fall off along itself: the answer is not on it
          drop(weight[0] < weight[1] ? 0 : 1);
        }
      }
    }
    if (active == 1) {
      weight[0] = 1.0;
      PieceValue& q = value[0];
      // inside a nearly round body the curvature all but cancels: descend all the same
      const double mean = 0.5 * (q.xx + q.yy);
      const double spread = std::hypot(0.5 * (q.xx - q.yy), q.xy);
      if (!(mean - spread > kLeastCurvature * size)) {
        const double shift = kLeastCurvature * size - (mean - spread) + 0.1 * spread;
        q.xx += shift;
        q.yy += shift;
        last = std::numeric_limits<double>::infinity();
      }
      const double det = q.xx * q.yy - q.xy * q.xy;
      if (!(det > 0.0)) return false;
      dx = -(gx[0] * q.yy - gy[0] * q.xy) / det;
      dy = -(q.xx * gy[0] - q.xy * gx[0]) / det;
    }
    // converged, and d straight below (or above) the point
    double off_x = 0.0;
    double off_y = 0.0;
    for (int i = 0; i < active; ++i) {
      off_x += weight[i] * gx[i];
      off_y += weight[i] * gy[i];
    }
    if (converged && off_x * off_x + off_y * off_y <= kStraight * kStraight * size * size) {
      hit.n = n;
      hit.point = BodyPoint{};
      hit.num_pieces = active;
      for (int i = 0; i < active; ++i) {
        hit.point.v += weight[i] * value[i].point.v;
        hit.point.a += weight[i] * value[i].point.a;
        hit.slots[i] = slots[i];
        hit.weights[i] = weight[i];
      }
      return true;
    }
    const double moved = dx * dx + dy * dy;
    if (!(moved <= kContraction * last)) return false;
    last = moved;
    const Vec4 next = nv + dx * axes.x + dy * axes.y;
    n = unit(next, std::sqrt(dot3(next, next)));
    converged = moved <= kNewtonAccuracy;
  }
  return false;
}

bool DistanceSearch::flat_disc(const Direction& n, DistanceHit& hit) {
  for (int k = 0; k < body.num_terms; ++k) {
    const PlacedTerm& placed = body.terms[static_cast<std::size_t>(k)];
    if (placed.kind != SupportTerm::Kind::discs) continue;
    const Vec4 m = product(placed.rows, n.x, n.y, n.z);
    if (m[1] * m[1] + m[2] * m[2] > 0.3 * m[0] * m[0]) continue;
    const int disc = m[0] > 0.0 ? 1 : 0;
    const double radius = placed.term->size[2 + disc];
    if (radius == 0.0) continue;
    const Vec4 axis = disc == 1 ? placed.columns.c[0] : -placed.columns.c[0];
    const Direction along{axis[0], axis[1], axis[2]};
    ++hit.supports;
    const BodyPoint others = body.core_support_without(along, k);
    const Vec4 offset = placed.columns.c[0] * placed.term->size[disc];
    const Vec4 q = d - others.v - offset;
    const double height = dot3(q, axis);
    const Vec4 side = q - height * axis;
    if (dot3(side, side) > radius * radius) continue;
    hit.n = along;
    hit.distance = height;
    hit.point.v = others.v + offset + side;
    hit.point.a = others.a;
    if (k < body.num_terms_A) hit.point.a += offset + side;
    hit.num_pieces = 0;
    hit.flat_term = k;
    return true;
  }
  return false;
}

/// The value is good to the square of what the point is good to: where the bounds met before Newton's method was asked,
/// it makes the point as good.
void DistanceSearch::polish(DistanceHit& hit) {
  DistanceHit trial = hit;
  if (!newton(hit.n, hit.slots, hit.num_pieces, trial)) return;
  const Vec4 q = d - trial.point.v;
  const double length = std::sqrt(dot3(q, q));
  if (!(length > 0.0) || !(length <= hit.distance)) return;
  trial.distance = length;
  hit = trial;
}

bool DistanceSearch::outside(double tolerance, Simplex& simplex, DistanceHit& hit) {
  double lower = -std::numeric_limits<double>::infinity();
  int rest = 0;
  while (hit.supports < kMostSupports) {
    if (!reduce(simplex)) return false;
    Vec4 y{};
    for (int i = 0; i < simplex.count; ++i) y -= simplex.weight[i] * from_d(simplex.slot[i]);
    const double upper = std::sqrt(dot3(y, y));
    if (upper <= kTouching * size) return false;
    const Direction n = unit(y, upper);
    const int slot = add_support(n, hit);
    const double bound = -dot3(from_d(slot), to_vec(n));
    if (bound > lower) {
      lower = bound;
      hit.n = n;
    }
    const double scale = std::max(upper, extent);
    if (upper - lower <= tolerance * scale) {
      hit.distance = upper;
      hit.n = n;
      hit.gap = (upper - lower) / scale;
      hit.certified = true;
      read(simplex, hit);
      if (curved_) polish(hit);
      return true;
    }
    if (curved_ && --rest < 0 && upper - lower <= kNewtonBelow * scale) {
      DistanceHit trial = hit;
      if (flat_disc(n, trial) && trial.distance > 0.0) {
        trial.gap = 0.0;
        trial.certified = true;
        hit = trial;
        return true;
      }
      hit.supports = trial.supports;
      int corners[4] = {};
      for (int i = 0; i < simplex.count; ++i) corners[i] = simplex.slot[i];
      // the newest first: it is what the pieces there are
      std::swap(corners[0], corners[simplex.count - 1]);
      int all[4] = {slot, corners[0], corners[1], corners[2]};
      if (newton(n, all, std::min(simplex.count + 1, 4), trial)) {
        const int check = add_support(trial.n, trial);
        const double best_lower = -dot3(from_d(check), to_vec(trial.n));
        const Vec4 q = d - trial.point.v;
        const double best_upper = std::sqrt(dot3(q, q));
        if (best_upper - best_lower <= tolerance * std::max(best_upper, extent) && best_upper > kTouching * size) {
          hit = trial;
          hit.distance = best_upper;
          hit.gap = (best_upper - best_lower) / std::max(best_upper, extent);
          hit.certified = true;
          return true;
        }
        hit.supports = trial.supports;
      }
      rest = 1;
    }
    // no progress is left but rounding
    for (int i = 0; i < simplex.count; ++i) {
      const Vec4 same =
          vertices_[static_cast<std::size_t>(simplex.slot[i])].v - vertices_[static_cast<std::size_t>(slot)].v;
      if (dot3(same, same) == 0.0) {
        hit.distance = upper;
        hit.n = n;
        hit.gap = (upper - lower) / scale;
        hit.certified = hit.gap <= 1e3 * tolerance;
        read(simplex, hit);
        return true;
      }
    }
    simplex.slot[simplex.count++] = slot;
  }
  hit.distance = std::max(lower, 0.0);
  read(simplex, hit);
  return true;
}

bool DistanceSearch::surround(Simplex& simplex, DistanceHit& hit) {
  // grow the simplex to a tetrahedron with volume, on both sides of what there is
  const auto volume = [&](int a, int b, int c, int e) {
    return dot3(cross3(from_d(b) - from_d(a), from_d(c) - from_d(a)), from_d(e) - from_d(a));
  };
  const double tiny = 1e-13 * size;
  const auto try_direction = [&](Vec4 v) {
    const double length = std::sqrt(dot3(v, v));
    if (!(length > 0.0)) return -1;
    return add_support(unit(v, length), hit);
  };
  const Vec4 axes[3] = {Vec4{1, 0, 0, 0}, Vec4{0, 1, 0, 0}, Vec4{0, 0, 1, 0}};
  if (simplex.count == 0) simplex.slot[simplex.count++] = try_direction(axes[0]);
  if (simplex.count == 1) {
    for (int i = 0; i < 6 && simplex.count == 1; ++i) {
      const int slot = try_direction(i % 2 == 0 ? axes[i / 2] : -axes[i / 2]);
      const Vec4 e = from_d(slot) - from_d(simplex.slot[0]);
      if (dot3(e, e) > tiny * tiny) simplex.slot[simplex.count++] = slot;
    }
  }
  if (simplex.count == 2) {
    const Vec4 e = from_d(simplex.slot[1]) - from_d(simplex.slot[0]);
    for (int i = 0; i < 6 && simplex.count == 2; ++i) {
      const Vec4 across = cross3(e, i % 2 == 0 ? axes[i / 2] : -axes[i / 2]);
      const int slot = try_direction(across);
      if (slot < 0) continue;
      const Vec4 area = cross3(e, from_d(slot) - from_d(simplex.slot[0]));
      if (dot3(area, area) > tiny * tiny * dot3(e, e)) simplex.slot[simplex.count++] = slot;
    }
  }
  if (simplex.count == 3) {
    const Vec4 normal =
        cross3(from_d(simplex.slot[1]) - from_d(simplex.slot[0]), from_d(simplex.slot[2]) - from_d(simplex.slot[0]));
    for (const Vec4 side : {normal, -normal}) {
      if (simplex.count == 4) break;
      const int slot = try_direction(side);
      if (slot < 0) continue;
      if (std::abs(volume(simplex.slot[0], simplex.slot[1], simplex.slot[2], slot)) >
          tiny * std::sqrt(dot3(normal, normal))) {
        simplex.slot[simplex.count++] = slot;
      }
    }
  }
  return simplex.count == 4;
}

bool DistanceSearch::add_face(int i, int j, int k, double least) {
  if (num_faces_ == kMostFaces) return false;
  const Vec4 p = from_d(i);
  const Vec4 normal = cross3(from_d(j) - p, from_d(k) - p);
  const double length = std::sqrt(dot3(normal, normal));
  Face& face = faces_[static_cast<std::size_t>(num_faces_++)];
  face.corner[0] = i;
  face.corner[1] = j;
  face.corner[2] = k;
  face.alive = true;
  face.checked = false;
  if (!(length > 0.0)) {
    // a sliver bounds nothing
    face.n = {0.0, 0.0, 0.0};
    face.distance = std::numeric_limits<double>::infinity();
    return true;
  }
  face.n = unit(normal, length);
  face.distance = dot3(p, to_vec(face.n));
  // the polytope only grows: a face nearer than all before is a sliver with a normal of rounding errors
  if (face.distance < least - kSliver * size) face.distance = std::numeric_limits<double>::infinity();
  return true;
}

/// M is flat and d in its plane, or all but: touching, with a normal of that plane.
void DistanceSearch::flat_body(const Simplex& simplex, DistanceHit& hit) const {
  Vec4 normal{};
  if (simplex.count >= 3) {
    normal =
        cross3(from_d(simplex.slot[1]) - from_d(simplex.slot[0]), from_d(simplex.slot[2]) - from_d(simplex.slot[0]));
  } else if (simplex.count == 2) {
    const Vec4 e = from_d(simplex.slot[1]) - from_d(simplex.slot[0]);
    normal = Across(unit(e, std::sqrt(dot3(e, e)))).x;
  } else {
    normal = Vec4{1.0, 0.0, 0.0, 0.0};
  }
  // towards d as seen from the centre
  if (dot3(normal, d) < 0.0) normal = -normal;
  hit.n = unit(normal, std::sqrt(dot3(normal, normal)));
  hit.distance = 0.0;
  hit.gap = 0.0;
  hit.certified = true;
  Simplex nearest = simplex;
  nearest.count = std::min(nearest.count, 3);
  (void)reduce(nearest);
  read(nearest, hit);
}

/// The foot of d on the faces of one plane (a face of M may be cut in triangles): on the triangle that holds it.
DistanceSearch::Simplex DistanceSearch::foot_on_faces(const Direction& n, double highest) const {
  Simplex best;
  double nearest = std::numeric_limits<double>::infinity();
  for (int f = 0; f < num_faces_; ++f) {
    const Face& face = faces_[static_cast<std::size_t>(f)];
    if (face.distance > highest || dot3(to_vec(face.n), to_vec(n)) < 1.0 - kSamePlane) continue;
    const Vec4 p[3] = {from_d(face.corner[0]), from_d(face.corner[1]), from_d(face.corner[2])};
    double w[3];
    nearest_on_triangle(p, w);
    const Vec4 y = w[0] * p[0] + w[1] * p[1] + w[2] * p[2];
    if (const double distance2 = dot3(y, y); distance2 < nearest) {
      nearest = distance2;
      best = {{face.corner[0], face.corner[1], face.corner[2], 0}, {w[0], w[1], w[2], 0.0}, 3};
    }
  }
  return best;
}

/// d is straight below the point, at the depth that the support says: an answer, if perhaps not the shallowest.
bool DistanceSearch::straight_below(const DistanceHit& hit, double depth) const {
  const Vec4 q = hit.point.v - d - depth * to_vec(hit.n);
  return dot3(q, q) <= kOptimal * kOptimal * extent * extent;
}

void DistanceSearch::inside(double tolerance, Simplex& simplex, DistanceHit& hit) {
  if (!surround(simplex, hit)) {
    flat_body(simplex, hit);
    return;
  }
  int t[4] = {simplex.slot[0], simplex.slot[1], simplex.slot[2], simplex.slot[3]};
  if (dot3(cross3(from_d(t[1]) - from_d(t[0]), from_d(t[2]) - from_d(t[0])), from_d(t[3]) - from_d(t[0])) > 0.0)
    std::swap(t[1], t[2]);
  // outward faces
  num_faces_ = 0;
  (void)add_face(t[0], t[1], t[2], 0.0);
  (void)add_face(t[0], t[3], t[1], 0.0);
  (void)add_face(t[1], t[3], t[2], 0.0);
  (void)add_face(t[2], t[3], t[0], 0.0);

  double upper = std::numeric_limits<double>::infinity();
  DistanceHit best = hit;
  bool exact = false;
  int rest = 0;
  while (num_vertices_ < kMostVertices - 2) {
    // the nearest face that is not settled
    const double settled = exact ? upper - kCheckedGap * std::max(upper, extent) : -1.0;
    int nearest = -1;
    double lowest = std::numeric_limits<double>::infinity();
    for (int f = 0; f < num_faces_; ++f) {
      const Face& face = faces_[static_cast<std::size_t>(f)];
      lowest = std::min(lowest, face.distance);
      if (exact && face.checked && face.distance >= settled) continue;
      if (nearest < 0 || face.distance < faces_[static_cast<std::size_t>(nearest)].distance) nearest = f;
    }
    if (nearest < 0 ||
        (exact && faces_[static_cast<std::size_t>(nearest)].distance >= upper - kCurvedGap * std::max(upper, extent))) {
      best.gap = std::max(0.0, (upper - lowest) / std::max(upper, extent));
      best.certified = exact;
      break;
    }
    Face& candidate = faces_[static_cast<std::size_t>(nearest)];
    if (exact && !candidate.checked && candidate.distance >= settled) {
      candidate.checked = true;
      DistanceHit trial = hit;
      if (newton(candidate.n, candidate.corner, 3, trial)) {
        if (dot3(to_vec(trial.n), to_vec(best.n)) > 1.0 - kSamePlane) continue;
        const int slot = add_support(trial.n, hit);
        const double depth = dot3(from_d(slot), to_vec(trial.n));
        if (depth < upper && straight_below(trial, depth)) {
          upper = depth;
          best = trial;
          best.distance = -depth;
        }
        continue;
      }
    }
    const Face face = candidate;
    const double lower = face.distance;
    const int slot = add_support(face.n, hit);
    const double depth = dot3(from_d(slot), to_vec(face.n));
    const double scale = std::max(std::abs(depth), extent);
    if (depth - lower <= tolerance * scale) {
      // the face is on the boundary: the foot of d on it
      if (depth <= upper) {
        const Simplex on_face = foot_on_faces(face.n, lower + tolerance * scale);
        best = hit;
        read(on_face, best);
        best.n = face.n;
        upper = depth;
        best.distance = -depth;
      }
      best.gap = std::max(0.0, (upper - lower) / scale);
      best.certified = true;
      break;
    }
    if (depth < upper) {
      upper = depth;
      exact = false;
      best = hit;
      best.distance = -depth;
      best.n = face.n;
      best.point = vertices_[static_cast<std::size_t>(slot)];
      best.num_pieces = 0;
    }
    int extra = -1;
    if (curved_ && --rest < 0 && depth - lower <= kNewtonBelow * scale) {
      DistanceHit trial = hit;
      bool found = flat_disc(face.n, trial);
      hit.supports = trial.supports;
      const int corners[4] = {slot, face.corner[0], face.corner[1], face.corner[2]};
      if (!found && newton(face.n, corners, 4, trial)) {
        extra = add_support(trial.n, hit);
        trial.distance = -dot3(from_d(extra), to_vec(trial.n));
        found = straight_below(trial, -trial.distance);
      }
      if (found && -trial.distance <= upper * (1.0 + 1e-12)) {
        upper = -trial.distance;
        best = trial;
        exact = true;
      }
      rest = 1;
    }
    // take out the faces that the new point sees, close the hole
    for (const int point : {slot, extra}) {
      if (point < 0) continue;
      const Vec4 w = from_d(point);
      horizon_.clear();
      for (int f = 0; f < num_faces_; ++f) {
        Face& seen = faces_[static_cast<std::size_t>(f)];
        if (!seen.alive || !std::isfinite(seen.distance)) continue;
        if (dot3(w, to_vec(seen.n)) - seen.distance <= 1e-15 * size) continue;
        seen.alive = false;
        for (int e = 0; e < 3; ++e) {
          const int a = seen.corner[e];
          const int b = seen.corner[(e + 1) % 3];
          // an edge seen from both sides is inside the hole
          bool twin = false;
          for (std::size_t h = 0; h + 1 < horizon_.size(); h += 2) {
            if (horizon_[h] == b && horizon_[h + 1] == a) {
              horizon_.erase(horizon_.begin() + static_cast<std::ptrdiff_t>(h),
                             horizon_.begin() + static_cast<std::ptrdiff_t>(h) + 2);
              twin = true;
              break;
            }
          }
          if (!twin) {
            horizon_.push_back(a);
            horizon_.push_back(b);
          }
        }
      }
      // forget the dead
      int kept = 0;
      for (int f = 0; f < num_faces_; ++f) {
        if (faces_[static_cast<std::size_t>(f)].alive)
          faces_[static_cast<std::size_t>(kept++)] = faces_[static_cast<std::size_t>(f)];
      }
      num_faces_ = kept;
      bool room = true;
      for (std::size_t h = 0; h + 1 < horizon_.size(); h += 2)
        room = room && add_face(horizon_[h], horizon_[h + 1], point, lower);
      if (!room) break;
    }
  }
  if (!best.certified) {
    // out of room: the answer stands, with what is left to exclude
    double lowest = std::numeric_limits<double>::infinity();
    for (int f = 0; f < num_faces_; ++f) lowest = std::min(lowest, faces_[static_cast<std::size_t>(f)].distance);
    best.gap = std::max(0.0, (upper - lowest) / std::max(upper, extent));
    best.certified = exact && best.gap <= kCheckedGap;
  }
  best.supports = hit.supports;
  hit = best;
}

void DistanceSearch::run(double tolerance, DistanceHit& hit) {
  hit = DistanceHit{};
  if (vertices_.empty()) {
    vertices_.resize(kMostVertices);
    faces_.resize(kMostFaces);
    horizon_.reserve(6 * kMostFaces);
  }
  if (pieces_.size() < static_cast<std::size_t>(kMostVertices * body.num_terms))
    pieces_.resize(static_cast<std::size_t>(kMostVertices * body.num_terms));
  num_vertices_ = 0;
  curved_ = false;
  for (int k = 0; k < body.num_terms; ++k)
    curved_ = curved_ || body.terms[static_cast<std::size_t>(k)].kind >= SupportTerm::Kind::discs;

  Simplex simplex;
  const double length = std::sqrt(dot3(d, d));
  simplex.slot[0] = add_support(length > 0.0 ? unit(d, length) : Direction{1.0, 0.0, 0.0}, hit);
  simplex.count = 1;
  if (!outside(tolerance, simplex, hit)) inside(tolerance, simplex, hit);
}

}  // namespace tangere
