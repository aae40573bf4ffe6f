#include "tangere/geometry/shape.hpp"

#include <array>
#include <string>

#include "tangere/geometry/internal/parameters.hpp"
#include "tangere/geometry/internal/rows.hpp"
#include "tangere/geometry/part_tree.hpp"
#include "tangere/geometry/shape_use.hpp"
#include "tangere/math/block_memory.hpp"
#include "tangere/math/check.hpp"
#include "tangere/math/entry_product.hpp"

namespace tangere {
namespace {

/// Names in files, in the order of `ShapeSpec`.
constexpr std::array<std::string_view, std::variant_size_v<ShapeSpec>> kTypeNames = {
    "sphere",         "ellipsoid", "box",           "polytope", "rounded_polytope", "capsule", "cylinder", "cone",
    "padded_polygon", "halfspace", "minkowski_sum", "bundle"};

/// A bundle whose parts are all convex: nested bundles replaced by their parts.
Bundle flattened(const Bundle& bundle) {
  if (bundle.parts.empty()) throw InputError("bundle.parts", "must not be empty");
  Bundle flat;
  for (std::size_t i = 0; i < bundle.parts.size(); ++i) {
    const ShapePart& part = bundle.parts[i];
    internal::require_pose("bundle.parts[" + std::to_string(i) + "]", part.X);
    if (const Bundle* inner = part.shape.get_if<Bundle>()) {
      for (const ShapePart& nested : inner->parts) flat.parts.push_back({nested.shape, part.X * nested.X});
    } else {
      flat.parts.push_back(part);
    }
  }
  return flat;
}

std::vector<ConvexPart> parts_of(const Bundle& bundle) {
  std::vector<ConvexPart> parts;
  int first_parameter = 0;
  for (const ShapePart& part : bundle.parts) {
    parts.push_back({part.shape.parts().front().set, part.X, first_parameter});
    first_parameter += static_cast<int>(part.shape.parameters().size());
  }
  return parts;
}

/// The rows with y = aux_start (p, alpha) put in.
ConicRows start_rows_of(const ConvexSet& set) {
  const MatrixX& S = set.rows.matrix();
  const int ny = set.rows.num_aux();
  MatrixX start(S.rows(), kShared + 1);
  start.leftCols(kShared) = S.leftCols(kShared) + entry_product(S.middleCols(kShared, ny), set.aux_start);
  start.col(kShared) = S.col(kShared + ny);
  return {0, set.rows.num_orthant(), set.rows.num_cones(), std::move(start)};
}

template <class Spec>
std::vector<ConvexPart> parts_of(const Spec& spec) {
  auto set = std::allocate_shared<ConvexSet>(BlockAllocator<ConvexSet>(), internal::make_set(spec));
  const ConicRows& rows = set->rows;
  set->rows = ConicRows(rows.num_aux(), rows.num_orthant(), rows.num_cones(), rows.matrix(), rows.cone_dimension(),
                        set->aux_start);
  set->start_rows = start_rows_of(*set);
  set->support = internal::support_terms(spec, *set);
  return {{std::move(set), Pose(), 0}};
}

}  // namespace

struct Shape::Data {
  /// Part queries look at it through spec().
  KeptSpec spec;
  std::vector<ConvexPart> parts;
  VectorX parameters;
  std::vector<std::string> parameter_names;
};

Shape::Shape(ShapeSpec spec) {
  auto data = std::make_unique<Data>();
  ShapeSpec& given = data->spec;
  given = std::move(spec);
  if (auto* bundle = std::get_if<Bundle>(&given)) {
    *bundle = flattened(*bundle);
    data->spec.part_tree = make_part_tree(bundle->parts);
  }
  data->parts = std::visit([](const auto& s) { return parts_of(s); }, given);

  internal::ParameterList list = internal::parameters_of(given);
  data->parameters = Eigen::Map<const VectorX>(list.values.data(), static_cast<Eigen::Index>(list.values.size()));
  data->parameter_names = std::move(list.names);
  if (!std::holds_alternative<Bundle>(given)) {
    convex_set_ = data->parts.front().set.get();
    support_terms_ = convex_set_->support.get();
    is_near_ = support_terms_->num_terms <= 1;
    if (is_near_) near_.sum = *support_terms_;
    if (support_terms_->num_terms == 1) near_.term = *support_terms_->terms();
  }
  data_ = std::shared_ptr<const Data>(data.release(), [](const Data* last) {
    const auto end = [](const void* memory) { delete static_cast<const Data*>(memory); };
    internal::end_shape(static_cast<const ShapeSpec*>(&last->spec), internal::ShapeMemory(last, end));
  });
}

const ShapeSpec& Shape::spec() const { return data_->spec; }

std::string_view Shape::type_name() const { return kTypeNames[data_->spec.index()]; }

bool Shape::is_convex() const { return !std::holds_alternative<Bundle>(data_->spec); }

bool Shape::is_half_space() const { return std::holds_alternative<HalfSpace>(data_->spec); }

std::span<const ConvexPart> Shape::parts() const { return data_->parts; }

const ConvexSet& Shape::set() const {
  if (!is_convex()) throw InputError("bundle", "is not one convex set, look at its parts");
  return *data_->parts.front().set;
}

const VectorX& Shape::parameters() const { return data_->parameters; }

const std::vector<std::string>& Shape::parameter_names() const { return data_->parameter_names; }

Shape Shape::with_parameters(const VectorX& parameters) const {
  if (parameters.size() != data_->parameters.size())
    throw InputError("parameters", "must be " + std::to_string(data_->parameters.size()) + " numbers, got " +
                                       std::to_string(parameters.size()));
  return Shape(internal::with_parameters_of(data_->spec, parameters));
}

Polytope Polytope::from_vertices(const MatrixX3& vertices) {
  Hull hull = internal::with_prefix("polytope", [&] { return hull_of_points(vertices); });
  return {std::move(hull.normals), std::move(hull.offsets)};
}

}  // namespace tangere
