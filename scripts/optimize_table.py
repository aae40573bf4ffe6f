#!/usr/bin/env python3
"""The table of what `tangere optimize NAME --seeds N --json` answered, as Markdown.

    tangere optimize all --seeds 20 --json > runs.jsonl
    scripts/optimize_table.py runs.jsonl
"""

import json
import statistics
import sys


def row(name, runs):
    solved = [run for run in runs if run["status"] == "solved"]
    first = [run for run in solved if run["starts"] == 1]
    cells = [name, f"{len(solved)} of {len(runs)}", f"{len(first)} of {len(runs)}"]
    if solved:
        cells += [
            f"{max(run['starts'] for run in solved)}",
            f"{statistics.median(run['iterations'] for run in solved):.0f}",
            f"{statistics.median(run['seconds'] for run in solved):.2g}",
            f"{max(run['goal_error'] for run in solved):.1e}",
            f"{max(run['replay_strays'] for run in solved):.1e}",
        ]
        fine = [run["refined_goal_error"] for run in solved if "refined_goal_error" in run]
        cells.append(f"{statistics.median(fine):.2g}" if fine else "")
    else:
        cells += [""] * 6
    return "| " + " | ".join(cells) + " |"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    runs = {}
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            for line in file:
                if line.startswith("{"):
                    run = json.loads(line)
                    runs.setdefault(run["name"], []).append(run)
    print("| problem | solved | by one start | most starts | iterations | s | goal missed, most | replay strays, most |"
          " goal missed at a fifth of the step |")
    print("|---|---|---|--:|--:|--:|--:|--:|--:|")
    for name in sorted(runs):
        print(row(name, runs[name]))


if __name__ == "__main__":
    main()
