"""Two shapes: how much may they grow until they touch, and how far are they apart? With a file name as argument the pair
is recorded there, to be looked at with `tangere view`."""

import json
import sys
from pathlib import Path

import tangere as tg

capsule = tg.Capsule(0.2, 1.0)
crate = tg.Box([0.5, 0.4, 0.3])
p_crate = [0.9, 0.6, 0.1]

scaled = tg.scaling(capsule, [0, 0, 0], crate, p_crate)
print(f"alpha {scaled.alpha:.6f}: {'apart' if scaled.alpha > 1 else 'overlapping'}")
print(f"a metre of the crate along y changes it by {scaled.gradient()[7]:.6f}")

nearest = tg.distance(capsule, [0, 0, 0], crate, p_crate)
on_capsule, on_crate = (", ".join(f"{x:.3f}" for x in p) for p in (nearest.p_A, nearest.p_B))
print(f"distance {nearest.distance:.6f} m between ({on_capsule}) and ({on_crate})")

if len(sys.argv) > 1:
    # the same pair as a query (docs/query.md)
    query = {
        "a": {"shape": {"type": "capsule", "radius": 0.2, "length": 1.0}},
        "b": {"shape": {"type": "box", "size": [0.5, 0.4, 0.3]}, "position": p_crate},
    }
    Path(sys.argv[1]).write_text(tg.query_recording(json.dumps(query), "pair"))
assert scaled.alpha > 1 and nearest.distance > 0
