"""How alpha and the distance change with the poses and the sizes; checked here against a finite difference. With a file
name as argument the pair is recorded there, at distances that the gradient foretells."""

import json
import sys
from pathlib import Path

import numpy as np

import tangere as tg

cone = tg.Cone(height=0.6, half_angle=0.4)
ellipsoid = tg.Ellipsoid([0.3, 0.2, 0.5])
position, quaternion = np.array([0.7, 0.2, 0.4]), [0.1, 0.3, 0.2, np.sqrt(0.86)]
X_WB = tg.Pose(position, quaternion)

scaled = tg.scaling(cone, [0, 0, 0], ellipsoid, X_WB)
d_alpha = scaled.gradient()
# what is less than the digits show has no sign
shown = " ".join(f"{x if abs(x) >= 5e-5 else 0.0:.4f}" for x in d_alpha[6:9])
print(f"alpha {scaled.alpha:.6f}, d alpha / d position of B: {shown}")

# smoothed by kappa, even the touching point has a derivative everywhere
smoothed = tg.scaling(cone, [0, 0, 0], ellipsoid, X_WB, smoothing=1e-4).jacobian()
print("smoothed: d(touching point) / d x of B:", " ".join(f"{x:.4f}" for x in smoothed.x_alpha[:3, 6]))

nearest = tg.distance(cone, [0, 0, 0], ellipsoid, X_WB)
of_cone, _ = nearest.parameter_gradient()
print(f"distance {nearest.distance:.6f}, with the cone's height it changes by {of_cone[0]:.4f} per metre")

# the check: move B by a little along x
step = 1e-6
d_distance = nearest.gradient()
moved = tg.Pose(position + [step, 0, 0], quaternion)
difference = (tg.distance(cone, [0, 0, 0], ellipsoid, moved).distance - nearest.distance) / step
print(f"d distance / d x of B: {d_distance[6]:.6f}, by a difference {difference:.6f}")

if len(sys.argv) > 1:
    # queries (docs/query.md): B goes against the gradient of alpha
    lines = []
    for i in range(9):
        p = position - 0.03 * i * d_alpha[6:9] / np.linalg.norm(d_alpha[6:9])
        lines.append(
            json.dumps(
                {
                    "a": {"shape": {"type": "cone", "height": 0.6, "half_angle": 0.4}},
                    "b": {
                        "shape": {"type": "ellipsoid", "semi_axes": [0.3, 0.2, 0.5]},
                        "quaternion": quaternion,
                        "position": list(p),
                    },
                }
            )
        )
    Path(sys.argv[1]).write_text(tg.query_recording("\n".join(lines), "gradients"))
assert abs(d_distance[6] - difference) < 1e-4
