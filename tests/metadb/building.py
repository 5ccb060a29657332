"""What the MetaDB tests share: small problems, recorded with one call."""

from datetime import datetime
from typing import Any

import numpy as np

from metafs_metadb import MetaDB, NeighbourRow, ProblemRow, Recorded, RunRow, SelectionRows

STARTED = datetime(2026, 1, 2, 3, 4, 5)


def signature(masses: dict[int, float]) -> tuple[Any, Any]:
    return np.array(list(masses), np.uint64), np.array(list(masses.values()))


def record(
    db: MetaDB,
    name: str,
    *,
    space: str = "default",
    fingerprint: str | None = None,
    masses: dict[int, float] | None = None,
    names: tuple[str, ...] = ("a", "b", "c"),
    selected: tuple[bool, ...] = (True, True, False),
    candidates: list[Any] | None = None,
    neighbours: list[NeighbourRow] | None = None,
    transfer: str = "none",
    **run: Any,
) -> Recorded:
    problem = ProblemRow(space, name, f"{name}.csv", fingerprint or f"print of {name}", 10, 3, "y")
    values: dict[str, Any] = {
        "params": {"b": 1, "a": [2]},
        "learner": "1nn",
        "distance": "jsd-rows",
        "seed": 7,
        "fitness": 0.5,
        "score": 0.8,
        "non_nested_score": 0.9,
        "scoring": "balanced_accuracy",
        "n_evaluations": 100,
        "n_selected": sum(selected),
        "stopped": "budget",
        "duration_s": {"select": 1.5, "learn": 0.5},
    }
    return db.record(
        problem,
        RunRow("climb", transfer, STARTED, "0.1.0", **(values | run)),
        signatures={"jsd-rows": signature(masses or {1: 0.5, 2: 0.5})},
        selections=SelectionRows(
            names,
            rank=np.arange(1, len(names) + 1),
            q=np.linspace(0.3, 0.1, len(names)),
            quality=np.linspace(0.6, 0.2, len(names)),
            expected=[np.nan] * len(names),
            selected=selected,
        ),
        candidates=[(1, [], 0.1), (10, ["a"], 0.4), (60, [0, 1], 0.5)]
        if candidates is None
        else candidates,
        neighbours=neighbours or [],
    )
