"""What many tests share."""

import numpy as np
import pytest
from hypothesis import settings

from metafs.data.problem import Problem
from metafs_metadb import MetaDB

settings.register_profile("untimed", deadline=None)  # a busy machine breaks no property
settings.load_profile("untimed")

NAMES = tuple(f"w{j}" for j in range(12))


@pytest.fixture
def related():
    """Make problems over common features; neighbours in number share their useful features."""

    def make(number, n_samples=60):
        rng = np.random.default_rng(number)
        X = (rng.random((n_samples, len(NAMES))) < 0.4).astype(float)
        useful = (number // 3) % 4
        y = np.where(X[:, useful] + X[:, useful + 1] >= 1, "yes", "no")
        flipped = rng.random(n_samples) < 0.05
        y[flipped] = np.where(y[flipped] == "yes", "no", "yes")
        return Problem.of(X, y, feature_names=NAMES, name=f"problem {number}")

    return make


@pytest.fixture
def db(tmp_path):
    """A path for a MetaDB that does not exist yet."""
    return tmp_path / "m.duckdb"


@pytest.fixture
def ask(db):
    """Ask the MetaDB of this test by SQL."""
    return lambda query: list(MetaDB(db).sql(query)[1])
