/// Pair queries. An answer owns copies of its shapes (a reference each) and its poses; derivatives ask the query again
/// in the thread's memory and differentiate there: the same bits, and nothing can be used after it is gone.

#include "python/src/support.hpp"
#include "tangere/proximity/distance.hpp"
#include "tangere/proximity/manifold.hpp"
#include "tangere/proximity/proximity.hpp"
#include "tangere/proximity/proximity_derivatives.hpp"
#include "tangere/proximity/scaling.hpp"
#include "tangere/proximity/scaling_derivatives.hpp"

namespace tangere::python {
namespace {

using nb::literals::operator""_a;

constexpr Name<ScalingMethod> kScalingMethods[] = {
    {ScalingMethod::automatic, "automatic"}, {ScalingMethod::conic, "conic"}, {ScalingMethod::support, "support"}};
constexpr Name<ProximityMethod> kProximityMethods[] = {{ProximityMethod::automatic, "automatic"},
                                                       {ProximityMethod::interior_point, "interior_point"},
                                                       {ProximityMethod::active_set, "active_set"}};

/// What a query was asked.
template <class Options>
struct Question {
  Shape A;
  Pose X_WA;
  Shape B;
  Pose X_WB;
  Options options;
};

template <class Options>
Question<Options> question(const Shape& A, const PoseLike& X_WA, const Shape& B, const PoseLike& X_WB,
                           const Options& options) {
  return {A, read_pose(X_WA, "X_WA"), B, read_pose(X_WB, "X_WB"), options};
}

struct ScalingAnswer {
  Question<ScalingOptions> asked;
  Scaling value;
  static ScalingWorkspace& workspace() {
    thread_local ScalingWorkspace memory;
    return memory;
  }
  static Scaling ask(const Question<ScalingOptions>& q) {
    return scaling(q.A, q.X_WA, q.B, q.X_WB, q.options, workspace());
  }
};

struct DistanceAnswer {
  Question<DistanceOptions> asked;
  Distance value;
  static DistanceWorkspace& workspace() {
    thread_local DistanceWorkspace memory;
    return memory;
  }
  static Distance ask(const Question<DistanceOptions>& q) {
    return distance(q.A, q.X_WA, q.B, q.X_WB, q.options, workspace());
  }
};

struct ProximityAnswer {
  Question<ProximityOptions> asked;
  Proximity value;
  static ProximityWorkspace& workspace() {
    thread_local ProximityWorkspace memory;
    return memory;
  }
  static Proximity ask(const Question<ProximityOptions>& q) {
    return proximity(q.A, q.X_WA, q.B, q.X_WB, q.options, workspace());
  }
};

/// The memory of a thread, holding the query of this answer.
template <class Answer>
auto& again(const Answer& answer) {
  (void)Answer::ask(answer.asked);
  return Answer::workspace();
}

template <class Answer, class Options>
Answer answer(const Shape& A, const PoseLike& X_WA, const Shape& B, const PoseLike& X_WB, const Options& options) {
  auto asked = question(A, X_WA, B, X_WB, options);
  auto value = Answer::ask(asked);
  return {std::move(asked), value};
}

/// Shapes, poses and what every answer has.
template <class Answer>
nb::class_<Answer> answer_class(nb::module_& m, const char* name, const char* doc) {
  nb::class_<Answer> c(m, name, doc);
  c.def_prop_ro(
       "A", [](const Answer& a) { return a.asked.A; }, "The first shape.")
      .def_prop_ro(
          "B", [](const Answer& a) { return a.asked.B; }, "The second shape.")
      .def_prop_ro(
          "X_WA", [](const Answer& a) { return a.asked.X_WA; }, "The pose of A.")
      .def_prop_ro(
          "X_WB", [](const Answer& a) { return a.asked.X_WB; }, "The pose of B.")
      .def_prop_ro(
          "status", [](const Answer& a) { return std::string(to_string(a.value.status)); },
          "`solved`, or what stopped the search.")
      .def_prop_ro(
          "p_A", [](const Answer& a) { return to_array(a.value.p_A); }, "The point on A, world axes.")
      .def_prop_ro(
          "p_B", [](const Answer& a) { return to_array(a.value.p_B); }, "The point on B, world axes.")
      .def_prop_ro(
          "normal", [](const Answer& a) { return to_array(a.value.normal); }, "Unit, from A to B.")
      .def_prop_ro(
          "iterations", [](const Answer& a) { return a.value.iterations; }, "Steps of the search.")
      .def_prop_ro(
          "gap", [](const Answer& a) { return a.value.gap; }, "How far the value may be off, relative.");
  return c;
}

constexpr const char* kGradientDoc =
    "Derivative of the value with respect to the poses of A and of B, (12,): translation in world axes, then the right "
    "rotation R exp(φ), of A and then of B.";
constexpr const char* kParameterDoc =
    "Derivatives of the value with respect to the parameters of A and of B: a tuple of two vectors.";

void bind_scaling(nb::module_& m) {
  nb::class_<ScalingJacobian>(m, "ScalingJacobian", "How the answer of `scaling` moves with the poses (12 columns).")
      .def_prop_ro(
          "x_alpha", [](const ScalingJacobian& s) { return to_array(s.x_alpha); }, "(4, 12): of x, then alpha.")
      .def_prop_ro(
          "p_A", [](const ScalingJacobian& s) { return to_array(s.p_A); }, "(3, 12).")
      .def_prop_ro(
          "p_B", [](const ScalingJacobian& s) { return to_array(s.p_B); }, "(3, 12).")
      .def_ro("unique", &ScalingJacobian::unique, "False where x is not unique or alpha has a kink.");

  auto c = answer_class<ScalingAnswer>(m, "Scaling", "The answer of `scaling`: alpha > 1 apart, < 1 overlapping.");
  c.def_prop_ro(
       "alpha", [](const ScalingAnswer& a) { return a.value.alpha; }, "The minimum scaling.")
      .def_prop_ro(
          "x", [](const ScalingAnswer& a) { return to_array(a.value.x); }, "Where the scaled shapes touch.")
      .def_prop_ro(
          "center_line_gap", [](const ScalingAnswer& a) { return a.value.center_line_gap; },
          "The gap between p_A and p_B, negative when overlapping; an upper bound of the distance.")
      .def_prop_ro(
          "point_freedom", [](const ScalingAnswer& a) { return a.value.point_freedom; },
          "0: x is unique; 1, 2: it may slide along a line or a face; -1: not computed.")
      .def_prop_ro(
          "normal_freedom", [](const ScalingAnswer& a) { return a.value.normal_freedom; },
          "0: the normal is unique; 1, 2: alpha has a kink; -1: not computed.")
      .def_prop_ro(
          "method", [](const ScalingAnswer& a) { return std::string(to_string(a.value.method)); },
          "The route that found the answer: `support` or `conic`.")
      .def_prop_ro(
          "residual", [](const ScalingAnswer& a) { return a.value.residual; }, "Relative dual residual.")
      .def_prop_ro(
          "part_A", [](const ScalingAnswer& a) { return a.value.part_A; }, "Of a bundle: the part that decides.")
      .def_prop_ro(
          "part_B", [](const ScalingAnswer& a) { return a.value.part_B; }, "Of a bundle: the part that decides.")
      .def(
          "gradient", [](const ScalingAnswer& a) { return to_array(scaling_gradient(again(a))); }, kGradientDoc)
      .def(
          "parameter_gradient",
          [](const ScalingAnswer& a) {
            VectorX d_A;
            VectorX d_B;
            scaling_parameter_gradient(again(a), d_A, d_B);
            return nb::make_tuple(to_array(d_A), to_array(d_B));
          },
          kParameterDoc)
      .def(
          "jacobian", [](const ScalingAnswer& a) { return scaling_jacobian(again(a)); },
          "How x, alpha and the points move with the poses.")
      .def(
          "parameter_jacobian",
          [](const ScalingAnswer& a) {
            Matrix4X d_A;
            Matrix4X d_B;
            scaling_parameter_jacobian(again(a), d_A, d_B);
            return nb::make_tuple(to_array(d_A), to_array(d_B));
          },
          "d(x, alpha) / d(parameters of A), d(parameters of B): 4 rows each.")
      .def(
          "quaternion_gradient",
          [](const ScalingAnswer& a) {
            return to_array(quaternion_form(scaling_gradient(again(a)), a.asked.X_WA, a.asked.X_WB));
          },
          "The gradient in the papers' form, (14,): d/dr_A, d/dq_A (x y z w), d/dr_B, d/dq_B.")
      .def("__repr__", [](const ScalingAnswer& a) {
        return std::string("Scaling(alpha=") + nb::repr(nb::float_(a.value.alpha)).c_str() + ", status='" +
               std::string(to_string(a.value.status)) + "')";
      });
  m.def(
      "scaling",
      [](const Shape& A, const PoseLike& X_WA, const Shape& B, const PoseLike& X_WB, double tolerance,
         int max_iterations, double smoothing, std::string_view method) {
        return answer<ScalingAnswer>(
            A, X_WA, B, X_WB,
            ScalingOptions{tolerance, max_iterations, smoothing, from_name(kScalingMethods, "method", method)});
      },
      "A"_a, "X_WA"_a, "B"_a, "X_WB"_a, nb::kw_only(), "tolerance"_a = ScalingOptions{}.tolerance,
      "max_iterations"_a = ScalingOptions{}.max_iterations, "smoothing"_a = 0.0, "method"_a = "automatic",
      "Minimum scaling (DCOL): the smallest alpha such that A and B, both scaled by alpha about their own origins, "
      "touch. `smoothing` (relative, 1e-12 to 0.01) answers with a smooth function of poses and parameters; `method`: "
      "automatic, conic, support.");
}

void bind_distance(nb::module_& m) {
  nb::class_<DistanceJacobian>(m, "DistanceJacobian", "How the answer of `distance` moves with the poses (12 columns).")
      .def_prop_ro(
          "p_A", [](const DistanceJacobian& s) { return to_array(s.p_A); }, "(3, 12).")
      .def_prop_ro(
          "p_B", [](const DistanceJacobian& s) { return to_array(s.p_B); }, "(3, 12).")
      .def_prop_ro(
          "normal", [](const DistanceJacobian& s) { return to_array(s.normal); }, "(3, 12).")
      .def_ro("exists", &DistanceJacobian::exists, "False where the points are not unique: all is then NaN.");
  auto c = answer_class<DistanceAnswer>(m, "Distance", "The answer of `distance`.");
  c.def_prop_ro(
       "distance", [](const DistanceAnswer& a) { return a.value.distance; },
       "Positive apart, negative overlapping (the penetration depth).")
      .def_prop_ro(
          "part_A", [](const DistanceAnswer& a) { return a.value.part_A; }, "Of a bundle: the part that decides.")
      .def_prop_ro(
          "part_B", [](const DistanceAnswer& a) { return a.value.part_B; }, "Of a bundle: the part that decides.")
      .def(
          "gradient", [](const DistanceAnswer& a) { return to_array(distance_gradient(again(a))); }, kGradientDoc)
      .def(
          "parameter_gradient",
          [](const DistanceAnswer& a) {
            VectorX d_A;
            VectorX d_B;
            distance_parameter_gradient(again(a), d_A, d_B);
            return nb::make_tuple(to_array(d_A), to_array(d_B));
          },
          kParameterDoc)
      .def(
          "jacobian", [](const DistanceAnswer& a) { return distance_jacobian(again(a)); },
          "How the points and the normal move with the poses.")
      .def("__repr__", [](const DistanceAnswer& a) {
        return std::string("Distance(distance=") + nb::repr(nb::float_(a.value.distance)).c_str() + ", status='" +
               std::string(to_string(a.value.status)) + "')";
      });
  m.def(
      "distance",
      [](const Shape& A, const PoseLike& X_WA, const Shape& B, const PoseLike& X_WB, double tolerance) {
        return answer<DistanceAnswer>(A, X_WA, B, X_WB, DistanceOptions{tolerance});
      },
      "A"_a, "X_WA"_a, "B"_a, "X_WB"_a, nb::kw_only(), "tolerance"_a = DistanceOptions{}.tolerance,
      "The true signed Euclidean distance of two shapes: how far apart they are, or, negative, the penetration depth.");
}

void bind_phi(nb::module_& m) {
  nb::class_<ProximityJacobian>(m, "ProximityJacobian",
                                "How the answer of `proximity` moves with the poses (12 columns).")
      .def_prop_ro(
          "c_A", [](const ProximityJacobian& s) { return to_array(s.c_A); }, "(3, 12).")
      .def_prop_ro(
          "c_B", [](const ProximityJacobian& s) { return to_array(s.c_B); }, "(3, 12).")
      .def_prop_ro(
          "p_A", [](const ProximityJacobian& s) { return to_array(s.p_A); }, "(3, 12).")
      .def_prop_ro(
          "p_B", [](const ProximityJacobian& s) { return to_array(s.p_B); }, "(3, 12).")
      .def_prop_ro(
          "normal", [](const ProximityJacobian& s) { return to_array(s.normal); }, "(3, 12).")
      .def_ro("unique", &ProximityJacobian::unique, "False where the closest points may slide, or the cores cross.");
  auto c = answer_class<ProximityAnswer>(m, "Proximity", "The answer of `proximity`.");
  c.def_prop_ro(
       "phi", [](const ProximityAnswer& a) { return a.value.phi; }, "The squared-gap value, m².")
      .def_prop_ro(
          "core_distance", [](const ProximityAnswer& a) { return a.value.core_distance; }, "0 where cores cross.")
      .def_prop_ro(
          "c_A", [](const ProximityAnswer& a) { return to_array(a.value.c_A); }, "Closest point of A's core.")
      .def_prop_ro(
          "c_B", [](const ProximityAnswer& a) { return to_array(a.value.c_B); }, "Closest point of B's core.")
      .def_prop_ro(
          "crossing", [](const ProximityAnswer& a) { return a.value.crossing; }, "Whether the cores cross.")
      .def_prop_ro(
          "point_freedom", [](const ProximityAnswer& a) { return a.value.point_freedom; },
          "0: the closest points are unique; else how many ways they may slide.")
      .def(
          "gradient", [](const ProximityAnswer& a) { return to_array(proximity_gradient(again(a))); }, kGradientDoc)
      .def(
          "quaternion_gradient",
          [](const ProximityAnswer& a) { return to_array(proximity_quaternion_gradient(again(a))); },
          "The gradient in the paper's form, (14,).")
      .def(
          "parameter_gradient",
          [](const ProximityAnswer& a) {
            VectorX d_A;
            VectorX d_B;
            proximity_parameter_gradient(again(a), d_A, d_B);
            return nb::make_tuple(to_array(d_A), to_array(d_B));
          },
          kParameterDoc)
      .def(
          "jacobian", [](const ProximityAnswer& a) { return proximity_jacobian(again(a)); },
          "How the points and the normal move with the poses.")
      .def("__repr__", [](const ProximityAnswer& a) {
        return std::string("Proximity(phi=") + nb::repr(nb::float_(a.value.phi)).c_str() + ", status='" +
               std::string(to_string(a.value.status)) + "')";
      });
  m.def(
      "proximity",
      [](const Shape& A, const PoseLike& X_WA, const Shape& B, const PoseLike& X_WB, double tolerance,
         int max_iterations, double smoothing, double smoothing_length, std::string_view method) {
        return answer<ProximityAnswer>(A, X_WA, B, X_WB,
                                       ProximityOptions{from_name(kProximityMethods, "method", method), tolerance,
                                                        max_iterations, smoothing, smoothing_length});
      },
      "A"_a, "X_WA"_a, "B"_a, "X_WB"_a, nb::kw_only(), "tolerance"_a = ProximityOptions{}.tolerance,
      "max_iterations"_a = ProximityOptions{}.max_iterations, "smoothing"_a = 0.0, "smoothing_length"_a = 0.0,
      "method"_a = "automatic",
      "Squared-gap proximity (DiffPills) of two padded cores (spheres, capsules, padded polygons, boxes, polytopes): "
      "> 0 apart, < 0 overlapping, smooth wherever the cores do not cross.");
  m.def("has_core", &has_core, "shape"_a, "Whether `proximity` takes the shape.");
}

/// A contact point and, if asked for, its derivatives.
struct ManifoldPoint {
  ContactPoint point;
  ContactJacobian jacobian;
  bool has_jacobian = false;
};

const ContactJacobian& jacobian_of(const ManifoldPoint& p) {
  if (!p.has_jacobian) throw InputError("derivatives", "were not asked for: manifold(…, derivatives=True)");
  return p.jacobian;
}

void bind_manifold(nb::module_& m) {
  nb::class_<ContactJacobian>(m, "ContactJacobian", "How a contact point moves with the poses of A and B (12 columns).")
      .def_prop_ro(
          "point", [](const ContactJacobian& s) { return to_array(s.point); }, "(3, 12).")
      .def_prop_ro(
          "p_A", [](const ContactJacobian& s) { return to_array(s.p_A); }, "(3, 12).")
      .def_prop_ro(
          "p_B", [](const ContactJacobian& s) { return to_array(s.p_B); }, "(3, 12).")
      .def_prop_ro(
          "normal", [](const ContactJacobian& s) { return to_array(s.normal); }, "(3, 12).")
      .def_prop_ro(
          "distance", [](const ContactJacobian& s) { return to_array(s.distance); }, "(12,).")
      .def_ro("exists", &ContactJacobian::exists, "False where there is no derivative: all is then NaN.");
  nb::class_<ManifoldPoint>(m, "ContactPoint", "A point of a contact manifold, world axes.")
      .def_prop_ro(
          "type", [](const ManifoldPoint& p) { return p.point.type(); }, "`vertex-face`, `edge-edge`, …")
      .def_prop_ro(
          "point", [](const ManifoldPoint& p) { return to_array(p.point.point); }, "Between p_A and p_B.")
      .def_prop_ro(
          "p_A", [](const ManifoldPoint& p) { return to_array(p.point.p_A); }, "On A.")
      .def_prop_ro(
          "p_B", [](const ManifoldPoint& p) { return to_array(p.point.p_B); }, "On B.")
      .def_prop_ro(
          "normal", [](const ManifoldPoint& p) { return to_array(p.point.normal); }, "Unit, from A to B.")
      .def_prop_ro(
          "distance", [](const ManifoldPoint& p) { return p.point.distance; }, "Negative overlapping.")
      .def_prop_ro(
          "weight", [](const ManifoldPoint& p) { return p.point.weight; }, "point = p_A + weight (p_B - p_A).")
      .def_prop_ro("jacobian", jacobian_of, nb::rv_policy::copy, "Derivatives, if they were asked for.")
      .def("__repr__", [](const ManifoldPoint& p) {
        return "ContactPoint(" + p.point.type() + ", distance=" + nb::repr(nb::float_(p.point.distance)).c_str() + ")";
      });
  m.def(
      "manifold",
      [](const Shape& A, const PoseLike& X_WA, const Shape& B, const PoseLike& X_WB, double margin, int max_points,
         double angular_tolerance, bool ahead, bool derivatives) {
        thread_local ManifoldWorkspace workspace;
        const ManifoldOptions options{margin, max_points, angular_tolerance, ahead, derivatives};
        std::vector<ManifoldPoint> out;
        for (const Manifold& part :
             manifolds(A, read_pose(X_WA, "X_WA"), B, read_pose(X_WB, "X_WB"), options, workspace))
          for (int i = 0; i < part.num_points; ++i) {
            const auto at = static_cast<std::size_t>(i);
            out.push_back({part.points[at], derivatives ? part.jacobians[at] : ContactJacobian{}, derivatives});
          }
        return out;
      },
      "A"_a, "X_WA"_a, "B"_a, "X_WB"_a, nb::kw_only(), "margin"_a = ManifoldOptions{}.margin,
      "max_points"_a = ManifoldOptions{}.max_points, "angular_tolerance"_a = ManifoldOptions{}.angular_tolerance,
      "ahead"_a = false, "derivatives"_a = false,
      "The points where two shapes touch, or nearly (within `margin`): at most 8 for each two convex parts.");
}

}  // namespace

void bind_proximity(nb::module_& m) {
  bind_scaling(m);
  bind_distance(m);
  bind_phi(m);
  bind_manifold(m);
}

}  // namespace tangere::python
