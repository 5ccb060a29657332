"""Real tables for benchmarks of single problems, as (name, X, y); the folder is shared/data."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from sklearn import datasets

BUNDLED = ("wine", "breast_cancer", "iris", "digits", "diabetes")
DENSE = (
    "colon", "leukemia", "lymphoma", "DLBCL", "SRBCT", "Prostate_GE", "GLIOMA", "lymphoma_disc",
    "madelon", "Isolet", "USPS", "warpAR10P", "warpPIE10P", "ORL", "Yale", "COIL20",
)  # fmt: skip
WORDS = ("BASEHOCK", "PCMAC", "RELATHE")
TASKS = (("landmine", (0, 10, 20)), ("school", (0, 20, 40)), ("parkinsons_telemonitoring", (1, 2)))


def tables(folder: Path) -> Iterator[tuple[str, object, np.ndarray]]:
    """Return the tables, the smallest of each kind first; classes are integers."""
    for name in BUNDLED:
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        yield name, np.asarray(X, dtype=float), y
    for name in DENSE:
        part = np.load(folder / f"{name}.npz")
        yield name, part["X"].astype(float), np.unique(part["y"], return_inverse=True)[1]
    for name in WORDS:
        part = np.load(folder / f"{name}.npz")
        parts = part["data"].astype(float), part["indices"].astype(int), part["indptr"]
        X = csr_array(parts, shape=tuple(part["shape"]))
        yield name, X, np.unique(part["y"], return_inverse=True)[1]
    for name, chosen in TASKS:
        part = np.load(folder / f"{name}.npz")
        for task in chosen:
            rows = part["task"] == task
            y = part["y"][rows]
            y = y.astype(int) if name == "landmine" else y.astype(float)
            yield f"{name} {task}", part["X"][rows].astype(float), y
