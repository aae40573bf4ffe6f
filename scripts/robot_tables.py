#!/usr/bin/env python3
"""Tables of robots beside MuJoCo (or Pinocchio): which load, whose dynamics agree, which stand.

    python3 -m venv venv && venv/bin/pip install mujoco pin
    venv/bin/python scripts/robot_tables.py load     FOLDER --tangere build/bin/tangere
    venv/bin/python scripts/robot_tables.py dynamics FOLDER --tangere build/bin/tangere
    venv/bin/python scripts/robot_tables.py stand    FOLDER --tangere build/bin/tangere --seconds 2

FOLDER is searched for MJCF and URDF files, or is one of them. A file counts if the other engine loads it: MuJoCo, or for a URDF that
MuJoCo refuses, Pinocchio where it is installed.

load      is the file loaded, with how many notices of each rank, and are nq, nv, nu and the mass the other's?
dynamics  the largest relative difference of M, of the bias forces and of the passive forces at random states
stand     the largest distance (m) between bodies after a run from the first keyframe under its control
"""

import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import numpy as np

try:
    import mujoco
except ImportError:
    sys.exit("robot_tables: needs MuJoCo: pip install mujoco")
try:
    import pinocchio
except ImportError:
    pinocchio = None

FREE, BALL = 0, 1


# files
# ----------------------------------------------------------------------------------------------------------------------


def root_of(file):
    """The name of the root element; empty if this is no XML."""
    try:
        root = xml.etree.ElementTree.parse(file).getroot()
    except (xml.etree.ElementTree.ParseError, OSError):
        return ""
    return root.tag


def robot_files(folder):
    if folder.is_file():
        return [folder]
    files = sorted(f for ending in ("*.xml", "*.urdf") for f in folder.rglob(ending))
    return [f for f in files if root_of(f) in ("mujoco", "robot")]


def mujoco_model(file):
    """The model and None, or None and why not."""
    try:
        return mujoco.MjModel.from_xml_path(str(file)), None
    except (ValueError, FileNotFoundError) as error:
        return None, " ".join(str(error).split())


def pinocchio_loads(file):
    if pinocchio is None or file.suffix != ".urdf":
        return False
    try:
        pinocchio.buildModelFromUrdf(str(file))
        return True
    except Exception:  # whatever it throws
        return False


def run(command, timeout=600):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return None, "takes more than %d s" % timeout
    if done.returncode < 0:
        return None, "ended by signal %d" % -done.returncode
    if done.returncode > 1:
        return None, " ".join(done.stderr.split())
    return json.loads(done.stdout), None


def inspect(tangere, file, *arguments):
    return run([tangere, "inspect", "--json", str(file), *arguments])


# coordinates: MuJoCo's quaternions are w x y z, and its free joints have the linear velocity in world axes
# ----------------------------------------------------------------------------------------------------------------------


def rotation(wxyz):
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, wxyz)
    return matrix.reshape(3, 3)


def our_q(model, q):
    q = q.copy()
    for joint in range(model.njnt):
        at = model.jnt_qposadr[joint]
        if model.jnt_type[joint] == FREE:
            at += 3
        elif model.jnt_type[joint] != BALL:
            continue
        w, x, y, z = q[at : at + 4]
        q[at : at + 4] = x, y, z, w
    return q


def velocity_map(model, q):
    """T of v_mujoco = T v_ours."""
    T = np.eye(model.nv)
    for joint in range(model.njnt):
        if model.jnt_type[joint] == FREE:
            at, dof = model.jnt_qposadr[joint], model.jnt_dofadr[joint]
            T[dof : dof + 3, dof : dof + 3] = rotation(q[at + 3 : at + 7])
    return T


def random_q(model, random):
    data = mujoco.MjData(model)
    mujoco.mj_differentiatePos(model, np.zeros(model.nv), 1.0, data.qpos, data.qpos)
    mujoco.mj_integratePos(model, data.qpos, random.normal(size=model.nv), 1.0)
    for joint in range(model.njnt):
        if model.jnt_type[joint] not in (FREE, BALL) and model.jnt_limited[joint]:
            data.qpos[model.jnt_qposadr[joint]] = random.uniform(*model.jnt_range[joint])
    return data.qpos.copy()


# load
# ----------------------------------------------------------------------------------------------------------------------


def ranks_of(notices):
    counts = {}
    for notice in notices:
        rank = notice.get("rank", "any")
        counts[rank] = counts.get(rank, 0) + 1
    return counts


def load_row(tangere, file):
    model, error = mujoco_model(file)
    if model is None and not pinocchio_loads(file):
        return {"status": "not judged", "why": error}
    ours, our_error = inspect(tangere, file)
    if ours is None:
        return {"status": "REFUSED", "why": our_error}
    row = {"status": "loads", "notices": ranks_of(ours["notices"]), "why": ""}
    if model is None or file.suffix == ".urdf":
        return row  # MuJoCo fuses the links of a URDF that are fixed
    differences = []
    for name, theirs, mine in (
        ("nq", model.nq, ours["nq"]),
        ("nv", model.nv, ours["nv"]),
        ("nu", model.nu, len(ours["actuators"])),
        ("dt", model.opt.timestep, ours["time_step"]),
        ("mass", round(float(model.body_subtreemass[0]), 7), round(ours["mass"], 7)),
    ):
        if theirs != mine and not abs(theirs - mine) <= 1e-6 * abs(theirs):
            differences.append("%s %g here, %g there" % (name, mine, theirs))
    row["why"] = "; ".join(differences)
    if differences:
        row["status"] = "differs"
    return row


# dynamics
# ----------------------------------------------------------------------------------------------------------------------


def relative(a, b):
    return float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-9)) if a.size else 0.0


def dynamics_row(tangere, file, states):
    model, error = mujoco_model(file)
    if model is None:
        return {"status": "not judged", "why": error}
    random = np.random.default_rng(1)
    worst = {"M": 0.0, "bias": 0.0, "passive": 0.0}
    data = mujoco.MjData(model)
    for _ in range(states):
        data.qpos[:] = random_q(model, random)
        data.qvel[:] = random.normal(size=model.nv)
        mujoco.mj_forward(model, data)
        T = velocity_map(model, data.qpos)
        numbers = lambda values: ",".join("%.17g" % value for value in values)
        v = np.linalg.solve(T, data.qvel)
        ours, error = inspect(tangere, file, "--q=" + numbers(our_q(model, data.qpos)), "--v=" + numbers(v))
        if ours is None:
            return {"status": "REFUSED", "why": error}
        if ours["nv"] != model.nv:
            return {"status": "differs", "why": "nv %d here, %d there" % (ours["nv"], model.nv)}
        M = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, M, data.qM) if hasattr(data, "qM") else mujoco.mj_fullM(model, data, M)
        state = ours["state"]
        passive = np.array(state.get("passive_force", np.zeros(model.nv)))
        bias = np.array(state["bias_force"]) + passive
        # the linear velocity turns with the body: M v' has a part of it
        worst["M"] = max(worst["M"], relative(np.array(state["mass_matrix"]).reshape(M.shape), T.T @ M @ T))
        their_bias = data.qfrc_bias.copy()
        correction = np.zeros(model.nv)
        for joint in range(model.njnt):
            if model.jnt_type[joint] == FREE:
                d = model.jnt_dofadr[joint]
                correction[d : d + 3] = T[d : d + 3, d : d + 3] @ np.cross(v[d + 3 : d + 6], v[d : d + 3])
        their_bias = T.T @ (their_bias + M @ correction)
        worst["bias"] = max(worst["bias"], relative(bias, their_bias))
        worst["passive"] = max(worst["passive"], relative(passive, T.T @ data.qfrc_passive))
    largest = max(worst.values())
    why = "  ".join("%s %.1e" % item for item in worst.items())
    return {"status": "equal" if largest < 1e-8 else "differs", "why": why}


# stand
# ----------------------------------------------------------------------------------------------------------------------


def stand_row(tangere, file, seconds):
    model, error = mujoco_model(file)
    if model is None:
        return {"status": "not judged", "why": error}
    data = mujoco.MjData(model)
    arguments = []
    if model.nkey > 0:
        mujoco.mj_resetDataKeyframe(model, data, 0)
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_KEY, 0) or "key0"
        arguments = ["--keyframe", name]
    steps = int(round(seconds / model.opt.timestep))
    start = data.xpos.copy()
    mujoco.mj_forward(model, data)
    start = data.xpos.copy()
    for _ in range(steps):
        mujoco.mj_step(model, data)
    mujoco.mj_forward(model, data)
    command = [tangere, "simulate", str(file), "--json", "--steps", str(steps), "--dt", repr(model.opt.timestep)]
    ours, error = run(command + arguments)
    if ours is None:
        return {"status": "REFUSED", "why": error}
    poses = {each["body"]: np.array(each["position"]) for each in ours["poses"]}
    worst, where = 0.0, ""
    for body in range(1, model.nbody):
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, body)
        if name not in poses:
            continue
        distance = float(np.linalg.norm(poses[name] - data.xpos[body]))
        if distance > worst or distance != distance:
            worst, where = distance, name
    moved = float(np.linalg.norm(data.xpos - start, axis=1).max())
    status = "within 5 cm" if worst <= 0.05 else "apart"
    return {"status": status, "why": "%.4f m at %s (MuJoCo itself moves %.3f m)" % (worst, where, moved)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=("load", "dynamics", "stand"))
    parser.add_argument("folder", type=pathlib.Path, nargs="+")
    parser.add_argument("--tangere", default="build/bin/tangere")
    parser.add_argument("--only", default="", help="files whose path has this in it")
    parser.add_argument("--states", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--failures", action="store_true", help="only the rows that are not as they should be")
    arguments = parser.parse_args()
    table = {
        "load": lambda file: load_row(arguments.tangere, file),
        "dynamics": lambda file: dynamics_row(arguments.tangere, file, arguments.states),
        "stand": lambda file: stand_row(arguments.tangere, file, arguments.seconds),
    }[arguments.table]
    jobs = [(folder, f) for folder in arguments.folder for f in robot_files(folder) if arguments.only in str(f)]
    counts = {}
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for (folder, file), row in zip(jobs, pool.map(lambda job: table(job[1]), jobs)):
            counts[row["status"]] = counts.get(row["status"], 0) + 1
            if arguments.failures and row["status"] in ("loads", "equal", "within 5 cm", "not judged"):
                continue
            name = str(file.relative_to(folder)) if folder.is_dir() else "/".join(file.parts[-2:])
            notices = " ".join("%s:%d" % item for item in row.get("notices", {}).items())
            print("| %s | %s | %s | %s |" % (name, row["status"], row["why"][:300], notices), flush=True)
    print("\n" + ", ".join("%d %s" % (count, status) for status, count in sorted(counts.items())))


if __name__ == "__main__":
    main()
