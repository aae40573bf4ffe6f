#include "tangere/sim/internal/clearance_pieces.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "tangere/geometry/support_terms.hpp"
#include "tangere/math/error.hpp"
#include "tangere/multibody/kinematics.hpp"
#include "tangere/multibody/way_columns.hpp"

namespace tangere::internal {
namespace {

/// Up to so many pieces that move, all pairs of them are listed once.
constexpr std::size_t kMostListed = 64;
/// Names that an error lists.
constexpr std::size_t kNamesInError = 6;

/// `*` any text, `?` one character.
bool matches_one(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || (pattern[p] != '*' && pattern[p] == text[t]))) {
      ++p;
      ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::string name_of(const Body& body, std::size_t shape) {
  const CollisionShape& of = body.spec.shapes[shape];
  if (!of.name.empty() && of.name != body.spec.name) return body.spec.name + "/" + of.name;
  return body.spec.shapes.size() == 1 ? body.spec.name : body.spec.name + "/" + std::to_string(shape);
}

Piece make_piece(const Shape& shape, const Pose& X_BP) {
  Piece piece;
  piece.geometry = &shape;
  piece.X_BP = X_BP;
  piece.bounded = !shape.is_half_space();
  if (!piece.bounded) return piece;
  const Aabb box = bounds(shape);
  piece.center = 0.5 * (box.lower + box.upper);
  piece.half = 0.5 * (box.upper - box.lower);
  piece.radius = std::min(piece.half.norm(), piece.center.norm() + shape.support_terms()->outer_radius);
  return piece;
}

Aabb placed_box(const Piece& piece, const Pose& X_W, double scale) {
  if (!piece.bounded) return bounds(*piece.geometry, X_W);
  const Vector3 center = X_W.p + X_W.R * (scale * piece.center);
  const Vector3 half = scale * (X_W.R.cwiseAbs() * piece.half);
  return {center - half, center + half};
}

}  // namespace

bool matches(std::string_view pattern, std::string_view text) {
  for (;;) {
    const std::size_t bar = pattern.find('|');
    if (matches_one(pattern.substr(0, bar), text)) return true;
    if (bar == std::string_view::npos) return false;
    pattern.remove_prefix(bar + 1);
  }
}

WorldPieces::WorldPieces(const World& of, const PairSelection& selection) : world(of) {
  const Model& model = world.model();
  auto all_names = std::make_shared<std::vector<std::string>>();
  const std::span<const SceneShape> shapes = world.scene().shapes();
  for (std::size_t s = 0; s < shapes.size(); ++s) {
    const SceneShape& at = shapes[s];
    const CollisionShape& shape = world.scene().shape(model, static_cast<int>(s));
    all_names->push_back(name_of(model.body(at.body), static_cast<std::size_t>(at.index)));
    const auto* bundle = shape.shape.get_if<Bundle>();
    const int count = bundle == nullptr ? 1 : static_cast<int>(bundle->parts.size());
    for (int k = 0; k < count; ++k) {
      Piece piece = bundle == nullptr ? make_piece(shape.shape, shape.X_BS)
                                      : make_piece(bundle->parts[k].shape, shape.X_BS * bundle->parts[k].X);
      piece.shape = static_cast<int>(s);
      piece.part = k;
      piece.body = at.body;
      piece.moves = !way_of(model, at.body).empty();
      (piece.moves ? moving : fixed).push_back(static_cast<int>(pieces.size()));
      pieces.push_back(piece);
    }
  }
  names = std::move(all_names);
  read(selection.include, "include", include_);
  read(selection.exclude, "exclude", exclude_);
  lists_moving_pairs = moving.size() <= kMostListed;
  if (!lists_moving_pairs) return;
  for (std::size_t k = 0; k < moving.size(); ++k)
    for (std::size_t l = k + 1; l < moving.size(); ++l)
      if (may_meet(pieces[moving[k]].shape, pieces[moving[l]].shape)) moving_pairs.push_back({moving[k], moving[l]});
}

void WorldPieces::read(const std::vector<PairPattern>& patterns, const char* field, std::vector<Sides>& out) const {
  const Model& model = world.model();
  for (std::size_t k = 0; k < patterns.size(); ++k) {
    const auto side = [&](const std::string& pattern, const char* end) {
      std::vector<char> hits(names->size());
      bool any = false;
      for (std::size_t s = 0; s < names->size(); ++s) {
        const std::string& body = model.body(world.scene().shapes()[s].body).spec.name;
        hits[s] = static_cast<char>(matches(pattern, (*names)[s]) || matches(pattern, body));
        any = any || hits[s] != 0;
      }
      if (any) return hits;
      std::string known;
      for (std::size_t s = 0; s < std::min(names->size(), kNamesInError); ++s)
        known += (s == 0 ? "'" : ", '") + (*names)[s] + "'";
      if (names->size() > kNamesInError) known += ", …";
      throw InputError(std::string(field) + "[" + std::to_string(k) + "]." + end,
                       "'" + pattern + "' matches no shape" +
                           (known.empty() ? ": the world has none that collides" : "; there are " + known));
    };
    out.push_back({side(patterns[k].a, "a"), side(patterns[k].b, "b")});
  }
}

bool WorldPieces::is_of(const std::vector<Sides>& patterns, int i, int j) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const Sides& sides) {
    return (sides.a[i] != 0 && sides.b[j] != 0) || (sides.a[j] != 0 && sides.b[i] != 0);
  });
}

bool WorldPieces::may_meet(int shape_i, int shape_j) const {
  if (shape_i == shape_j) return false;
  const CollisionScene& scene = world.scene();
  const CollisionShape& i = scene.shape(world.model(), shape_i);
  const CollisionShape& j = scene.shape(world.model(), shape_j);
  if ((i.group & j.mask) == 0 || (j.group & i.mask) == 0) return false;
  if (!world.model().may_collide(scene.shapes()[shape_i].body, scene.shapes()[shape_j].body)) return false;
  if (!include_.empty() && !is_of(include_, shape_i, shape_j)) return false;
  return exclude_.empty() || !is_of(exclude_, shape_i, shape_j);
}

PlacedPieces::PlacedPieces(const WorldPieces& pieces) : kinematics(pieces.world.model()) {
  X_W.resize(pieces.pieces.size());
  boxes.resize(pieces.pieces.size());
  const Model& model = pieces.world.model();
  forward_kinematics(model, kinematics, pieces.world.default_state().q);
  for (const int i : pieces.fixed) {
    const Piece& piece = pieces.pieces[i];
    X_W[i] = body_pose(model, kinematics, piece.body) * piece.X_BP;
    boxes[i] = placed_box(piece, X_W[i], 1.0);
    (void)fixed.add(boxes[i]);
  }
  if (pieces.lists_moving_pairs) return;
  for (std::size_t k = 0; k < pieces.moving.size(); ++k) (void)moving.add({Vector3::Zero(), Vector3::Zero()});
}

void PlacedPieces::place(const WorldPieces& pieces, VectorArgument q) {
  const Model& model = pieces.world.model();
  forward_kinematics(model, kinematics, q);
  int body = kWorld;
  Pose X_WB;
  for (const int i : pieces.moving) {
    const Piece& piece = pieces.pieces[i];
    if (piece.body != body) X_WB = body_pose(model, kinematics, body = piece.body);
    X_W[i] = X_WB * piece.X_BP;
    boxes[i] = placed_box(piece, X_W[i], box_scale);
  }
}

void PlacedPieces::scale_boxes(const WorldPieces& pieces, double scaling) {
  if (box_scale == scaling) return;
  box_scale = scaling;
  for (std::size_t k = 0; k < pieces.fixed.size(); ++k) {
    const int i = pieces.fixed[k];
    boxes[i] = placed_box(pieces.pieces[i], X_W[i], scaling);
    fixed.update(static_cast<int>(k), boxes[i]);
  }
}

void add_gradient(const WorldPieces& pieces, const PlacedPieces& at, int piece, const Vector6& g, double* out) {
  const Model& model = pieces.world.model();
  const int body = pieces.pieces[piece].body;
  const std::span<const int> way = way_of(model, body);
  if (way.empty()) return;
  Vector6 wrench;
  wrench << g.head<3>(), at.X_W[piece].R * g.tail<3>();
  // memory of this thread, as long as its longest way
  thread_local std::vector<double> along;
  if (along.size() < way.size()) along.resize(way.size());
  way_forces(model, at.kinematics, body, at.X_W[piece].p, wrench, along.data());
  for (std::size_t k = 0; k < way.size(); ++k) out[way[k]] += along[k];
}

void add_gradient(const WorldPieces& pieces, const PlacedPieces& at, PieceOrder pair, const Vector12& g, double* out) {
  add_gradient(pieces, at, pair.A, g.head<6>(), out);
  add_gradient(pieces, at, pair.B, g.tail<6>(), out);
}

ClearancePair name_pair(const WorldPieces& pieces, PieceOrder pair) {
  const Piece& A = pieces.pieces[pair.A];
  const Piece& B = pieces.pieces[pair.B];
  ClearancePair out;
  out.shape_A = A.shape;
  out.shape_B = B.shape;
  out.part_A = A.part;
  out.part_B = B.part;
  out.a = (*pieces.names)[A.shape];
  out.b = (*pieces.names)[B.shape];
  return out;
}

void require_world(const WorldPieces& pieces, const World& world) {
  if (pieces.world.parts_number() != world.parts_number()) throw InputError("workspace", "was made for another world");
}

}  // namespace tangere::internal
