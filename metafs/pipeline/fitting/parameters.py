"""Parameters of a selector's or learner's ``fit`` besides X and y, as far as it takes them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from metafs.data.problem import Problem
from metafs.data.typing import Array, Matrix
from metafs.plugin.prior import Prior
from metafs.stats.preparation import chosen_columns
from metafs.stats.weighting import weight_parameters


def takes(estimator: Any, *names: str) -> bool:
    """Tell whether the ``fit`` of an estimator has one of these parameters."""
    return any(has_fit_parameter(estimator, name) for name in names)


def of_rows(problem: Problem, rows: Array | slice = slice(None)) -> dict[str, Any]:
    """Return groups and weights of some rows, where there are any."""
    metadata = {"groups": problem.groups, "sample_weight": problem.sample_weight}
    return {name: values[rows] for name, values in metadata.items() if values is not None}


def fit_parameters(
    problem: Problem,
    columns: Array,
    learner: Any,
    X: Matrix,
    steps: Sequence[tuple[str, Any]] = (),
    prior: Prior | None = None,
    training: Array | slice = slice(None),
) -> dict[str, Any]:
    """Return parameters of ``fit`` for a learner on some columns.

    Categorical columns become several columns each, which have no meta-features and no prior, so
    a table with such columns gets only what is known of its rows.

    Parameters
    ----------
    problem : Problem
    columns : array of int
        The columns that the learner sees.
    learner : estimator
    X : array or csr_array
        The training rows on these columns, from which `steps` learn how to prepare others.
    steps : sequence of (str, transformer)
        What prepares rows for the learner.
    prior : Prior, optional
        What memory knows of all columns. Under the published rule it is for selectors only.
    training : array of int or slice
        The training rows.
    """
    metadata = of_rows(problem, training)
    found: dict[str, Any] = weight_parameters(learner, metadata.get("sample_weight"))
    if "groups" in metadata and takes(learner, "groups"):
        found["groups"] = metadata["groups"]
    if any(column in problem.categories for column in np.asarray(columns).tolist()):
        return found
    if problem.meta_features is not None and takes(learner, "meta_features"):
        found["meta_features"] = problem.meta_features[columns]
    if prior is not None and prior.for_learners and takes(learner, "prior", "programs"):
        part = prior.columns(columns)
        if takes(learner, "prior"):
            found["prior"] = part
        if part.programs and takes(learner, "programs"):
            found["programs"] = part.programs
    if problem.X_unlabelled is not None and takes(learner, "X_unlabelled"):
        rows = chosen_columns(problem.X_unlabelled, columns)
        if steps:
            rows = Pipeline([(name, clone(step)) for name, step in steps]).fit(X).transform(rows)
        found["X_unlabelled"] = rows
    return found
