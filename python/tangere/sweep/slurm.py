"""The script of a Slurm job array: each task of it drives its share of the chunks; any may die and be queued again."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from .engines import Slurm
from .manifest import Manifest
from .shards import write_whole

__all__ = ["write_script"]


def write_script(folder: Path, manifest: Manifest, engine: Slurm) -> Path:
    """Writes DIR/slurm.sh."""
    folder = folder.resolve()
    tasks = max(1, min(engine.tasks, manifest.num_chunks))
    paths = os.pathsep.join(p for p in sys.path if p and os.path.isdir(p) and "site-packages" not in p)
    name = manifest.identity["task"]["name"]
    lines = [
        "#!/bin/bash",
        f"#SBATCH --job-name={name}",
        f"#SBATCH --array=0-{tasks - 1}",
        f"#SBATCH --cpus-per-task={engine.cores}",
        "#SBATCH --requeue",
        f"#SBATCH --output={folder}/logs/%a.txt",
        *(f"#SBATCH {option}" for option in engine.options),
        "",
        "# Run it again to go on: chunks that are done are not done twice. All of it on one machine:",
        f"#   for k in $(seq 0 {tasks - 1}); do SLURM_ARRAY_TASK_ID=$k bash {shlex.quote(str(folder))}/slurm.sh; done",
        f"export PYTHONPATH={shlex.quote(paths)}${{PYTHONPATH:+:$PYTHONPATH}}",
        f"exec {shlex.quote(sys.executable)} -m tangere sweep run {shlex.quote(str(folder))} "
        f'--task "${{SLURM_ARRAY_TASK_ID:?}}/{tasks}" --workers {engine.cores}',
        "",
    ]
    (folder / "logs").mkdir(exist_ok=True)
    script = folder / "slurm.sh"
    write_whole(script, lambda path: path.write_text("\n".join(lines)))
    script.chmod(0o755)
    return script
