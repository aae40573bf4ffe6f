"""Tangere: differentiable contact.

Pair queries with gradients, articulated dynamics, hard and smooth contact, and exact derivatives of every step.

    import tangere as tg
    world = tg.load("humanoid.xml", time_step=0.01)
    x = world.default_state()
    for _ in range(100):
        x = world.step(x, u=0)
    A, B = world.jacobians(x, u=0)
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _variant as _variant  # chooses the extension module for this machine
from . import _core
from ._core import (
    Actuator,
    Batch,
    Box,
    BroadPhase,
    Bundle,
    Capsule,
    CenterOfMassCost,
    Collider,
    CollisionShape,
    Cone,
    Contact,
    ContactJacobian,
    ContactOptions,
    ContactPhase,
    ContactPoint,
    ControlBounds,
    ControlCost,
    Cylinder,
    Distance,
    DistanceJacobian,
    DynamicsDerivatives,
    Ellipsoid,
    Equality,
    FrameCost,
    FunctionDynamics,
    Guess,
    HalfSpace,
    Hull,
    Inequality,
    InputError,
    Iteration,
    KeepApart,
    Keyframe,
    Kinematics,
    Knot,
    MassProperties,
    MeshHull,
    MinkowskiSum,
    Model,
    ModelBuilder,
    OptimalControl,
    OptimizeResult,
    Optimizer,
    OptimizerOptions,
    PaddedPolygon,
    Plan,
    Polytope,
    Pose,
    ProblemFile,
    Proximity,
    ProximityJacobian,
    Reach,
    ReachFrame,
    Recording,
    ResidualCost,
    RestartOptions,
    Robot,
    Rollout,
    RoundedPolytope,
    Scaling,
    ScalingJacobian,
    Shape,
    SmoothOptions,
    Sphere,
    State,
    StateBounds,
    StateCost,
    Step,
    StepDiagnosis,
    TriangleMesh,
    Verification,
    World,
    answer_query_line,
    bias_forces,
    bounds,
    combined,
    difference,
    difference_jacobians,
    distance,
    distance_batch,
    forward_dynamics,
    forward_dynamics_derivatives,
    forward_dynamics_parameter_derivatives,
    has_core,
    hull_of_half_spaces,
    hull_of_mesh,
    hull_of_points,
    inertial_moments,
    inertial_regressor,
    integrate,
    integrate_jacobians,
    inverse_dynamics,
    inverse_dynamics_derivatives,
    inverse_dynamics_parameter_derivatives,
    inverse_mass_matrix,
    load_mesh,
    load_recording,
    load_robot,
    manifold,
    mass_matrix,
    mass_properties,
    mesh,
    minus,
    minus_jacobians,
    neutral_configuration,
    normalized,
    plus,
    plus_jacobians,
    point_gradient,
    point_position,
    problem_from_text,
    proximity,
    query_recording,
    random_configuration,
    recentred,
    recording,
    recording_from_text,
    recording_page,
    save_urdf,
    scaling,
    scaling_batch,
    scene_from_text,
    shape_from_json,
    shape_to_json,
    tangent_gradient,
    to_mjcf,
    to_urdf,
    tracking_gains,
    verify,
    wrench_at,
)
from ._show import Page, show

__version__: str = _core.__version__

# Where scenes and the viewer are, in the places that the command beside it looks for too.
_SHARE = Path(__file__).parent / "share" / "tangere"

# Modules that need something else, imported when they are asked for.
_OPTIONAL = ("casadi", "gym", "jax", "sweep", "torch")

if TYPE_CHECKING:
    from . import casadi, gym, jax, sweep, torch  # noqa: F401


def __getattr__(name: str) -> Any:
    if name in _OPTIONAL:
        return importlib.import_module(f"tangere.{name}")
    raise AttributeError(f"module 'tangere' has no attribute {name!r}")


def scene_file(name: str) -> Path:
    """The path of a scene or robot that comes with the package (`humanoid.xml`, `arm.urdf`, ...)."""
    folder = _SHARE / "scenes"
    found = folder / name
    if not found.is_file():
        there = sorted(p.name for p in folder.iterdir() if p.is_file()) if folder.is_dir() else []
        raise InputError("name", f"there is no scene {name!r}; there are {', '.join(there) or 'none'}")
    return found


def load(
    file: str | os.PathLike[str],
    *,
    time_step: float | None = None,
    formulation: str | None = None,
    integrator: str | None = None,
    contact: ContactOptions | None = None,
    smooth: SmoothOptions | None = None,
    base: str = "fixed",
    search_paths: list[str] | None = None,
    strict: bool = False,
    friction: float = 1.0,
    restitution: float = 0.0,
) -> World:
    """The world of a scene (JSON) or robot file (URDF, MJCF).

    A name that is no file here is looked for among the scenes of the package. The options are those of `World`;
    `base` says what holds the root of a URDF (fixed or free), `strict` makes notices errors, `friction` and
    `restitution` are used where the file gives none.
    """
    path = os.fspath(file)
    if not os.path.exists(path) and os.path.basename(path) == path:
        packaged = _SHARE / "scenes" / path
        if packaged.is_file():
            path = str(packaged)
    return _core._load(
        path,
        time_step=time_step,
        formulation=formulation,
        integrator=integrator,
        contact=contact,
        smooth=smooth,
        base=base,
        search_paths=search_paths or [],
        strict=strict,
        friction=friction,
        restitution=restitution,
    )


def load_problem(file: str | os.PathLike[str]) -> ProblemFile:
    """A problem of trajectory optimisation from a file (docs/optimise.md), or by the name of one in the package.

    problem = tg.load_problem("half_cheetah")
    result = tg.Optimizer(problem.problem, problem.options).solve(problem.guess, restarts=problem.restarts)
    """
    path = os.fspath(file)
    if not os.path.exists(path) and os.path.basename(path) == path:
        packaged = _SHARE / "scenes" / "problems" / (path if path.endswith(".json") else f"{path}.json")
        if packaged.is_file():
            path = str(packaged)
    return _core._load_problem(path)


__all__ = [
    "Actuator",
    "Batch",
    "Box",
    "BroadPhase",
    "Bundle",
    "Capsule",
    "CenterOfMassCost",
    "Collider",
    "CollisionShape",
    "Cone",
    "Contact",
    "ContactJacobian",
    "ContactOptions",
    "ContactPhase",
    "ContactPoint",
    "ControlBounds",
    "ControlCost",
    "Cylinder",
    "Distance",
    "DistanceJacobian",
    "DynamicsDerivatives",
    "Ellipsoid",
    "Equality",
    "FrameCost",
    "FunctionDynamics",
    "Guess",
    "HalfSpace",
    "Hull",
    "Inequality",
    "InputError",
    "Iteration",
    "KeepApart",
    "Keyframe",
    "Kinematics",
    "Knot",
    "MassProperties",
    "MeshHull",
    "MinkowskiSum",
    "Model",
    "ModelBuilder",
    "OptimalControl",
    "OptimizeResult",
    "Optimizer",
    "OptimizerOptions",
    "PaddedPolygon",
    "Page",
    "Plan",
    "Polytope",
    "Pose",
    "ProblemFile",
    "Proximity",
    "ProximityJacobian",
    "Reach",
    "ReachFrame",
    "Recording",
    "ResidualCost",
    "RestartOptions",
    "Robot",
    "Rollout",
    "RoundedPolytope",
    "Scaling",
    "ScalingJacobian",
    "Shape",
    "SmoothOptions",
    "Sphere",
    "State",
    "StateBounds",
    "StateCost",
    "Step",
    "StepDiagnosis",
    "TriangleMesh",
    "Verification",
    "World",
    "answer_query_line",
    "bias_forces",
    "bounds",
    "combined",
    "difference",
    "difference_jacobians",
    "distance",
    "distance_batch",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "forward_dynamics_parameter_derivatives",
    "has_core",
    "hull_of_half_spaces",
    "hull_of_mesh",
    "hull_of_points",
    "inertial_moments",
    "inertial_regressor",
    "integrate",
    "integrate_jacobians",
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "inverse_dynamics_parameter_derivatives",
    "inverse_mass_matrix",
    "load",
    "load_mesh",
    "load_problem",
    "load_recording",
    "load_robot",
    "manifold",
    "mass_matrix",
    "mass_properties",
    "mesh",
    "minus",
    "minus_jacobians",
    "neutral_configuration",
    "normalized",
    "plus",
    "plus_jacobians",
    "point_gradient",
    "point_position",
    "problem_from_text",
    "proximity",
    "query_recording",
    "random_configuration",
    "recentred",
    "recording",
    "recording_from_text",
    "recording_page",
    "save_urdf",
    "scaling",
    "scaling_batch",
    "scene_file",
    "scene_from_text",
    "shape_from_json",
    "shape_to_json",
    "show",
    "tangent_gradient",
    "to_mjcf",
    "to_urdf",
    "tracking_gains",
    "verify",
    "wrench_at",
]
