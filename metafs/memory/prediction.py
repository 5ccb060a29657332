"""Rank unmeasured features by their meta-features, with all of memory as training data."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from metafs.data.checks import listing
from metafs.data.readers.metafeatures import FeatureTable
from metafs.errors import MetafsError, UsageError, describe
from metafs.transfer.meta_regression import FEWEST, LATEST, meta_regression
from metafs_metadb import FeatureExperience, MetaDB


@dataclass(frozen=True)
class Prediction:
    """What a feature is expected to be worth, and what it was where memory has met it."""

    rank: int
    name: str
    expected: float
    """Quality, averaged over problems such as those in memory; 0 where it would not be selected."""
    uncertainty: float | None
    """Standard deviation of such features' quality around it; None if the regressor has none."""
    n_problems: int
    """In how many problems memory has met it."""
    quality: float | None
    """What it was worth there on average; None if memory has never met it."""


@dataclass(frozen=True)
class Predictions:
    """Ranked features, the best first, and the meta-features that were used."""

    features: tuple[Prediction, ...]
    by: tuple[str, ...]


def predict_features(
    metadb: MetaDB, table: FeatureTable, regressor: Any, *, space: str | None = None
) -> Predictions:
    """Rank the features of a table by what features of their kind were worth, the best first.

    Raises
    ------
    MetafsError
        Memory holds too little to predict them; the message says what is lacking.
    """
    space = _space(metadb, space)
    outcomes = metadb.feature_experience(space, limit=LATEST)
    try:
        found = meta_regression(outcomes, outcomes.quality, table.values, table.names, regressor)
    except MetafsError:
        raise
    except Exception as error:  # a third-party regressor may raise anything
        raise MetafsError(f"{type(regressor).__name__} failed: {describe(error)}") from error
    if found is None:
        raise MetafsError(_too_little(outcomes, table.names, space))
    met = {name: row for row, name in enumerate(outcomes.names)}
    predictions = []
    for rank, j in enumerate(np.argsort(-found.expected, kind="stable").tolist(), start=1):
        row = met.get(table.features[j])
        predictions.append(
            Prediction(
                rank=rank,
                name=table.features[j],
                expected=float(found.expected[j]),
                uncertainty=None if found.std is None else float(found.std[j]),
                n_problems=0 if row is None else int(outcomes.n_problems[row]),
                quality=None if row is None else float(outcomes.quality[row]),
            )
        )
    return Predictions(tuple(predictions), found.by)


def _space(metadb: MetaDB, space: str | None) -> str:
    """Return the space to learn from: the one asked for, or the only one there is."""
    described = metadb.described_spaces()
    if not described:
        raise MetafsError(
            f"{metadb.path} knows no meta-features: solve problems with --meta-features FILE first."
        )
    if space is None and len(described) > 1:
        raise UsageError(
            f"meta-features are known in several spaces, {listing(described)}: choose one with "
            "--space."
        )
    if space is not None and space not in described:
        raise UsageError(
            f"no meta-features are known in space '{space}', only in {listing(described)}."
        )
    return space or described[0]


def _too_little(outcomes: FeatureExperience, names: Sequence[str], space: str) -> str:
    if not set(names) & set(outcomes.meta_feature_names):
        return (
            f"the table's meta-features, {listing(list(names))}, are others than those that space "
            f"'{space}' knows, {listing(outcomes.meta_feature_names)}: use the same names."
        )
    return (
        f"only {len(outcomes)} different features with meta-features are remembered in space "
        f"'{space}', and a map needs {FEWEST}: solve problems over more features, described with "
        "--meta-features FILE."
    )
