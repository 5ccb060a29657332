r"""The reference model: what memory keeps of every solved problem, whatever selector ran.

A linear model on all columns is fitted without memory, and its weights are kept; so are the scale
of each column and its univariate relevance,

.. math:: r_j = \max\Big(0, \frac{MI(x_j; y) - c_j}{H(y)}\Big), \qquad
          c_j = \frac{(k_j - 1)(k_y - 1)}{2 N \ln 2},

with c the expectation under chance, k bins (G. Miller, "Note on the bias of information estimates",
1955). Where memory knows of weights, a second model is fitted with it: its strength of
memory, and which part of each weight is memory's, goes into the explanation. The gain from memory
with few labels is measured as well, on rows that no remembered model has seen: where past problems
share rows, on rows that all problems set apart (`metafs.data.row_hashes`), with weights that have
not learned from them.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, issparse

from metafs.data.problem import Problem
from metafs.data.row_hashes import rows_apart
from metafs.data.typing import Array, Matrix
from metafs.memory import BeliefRow, ReferenceRows
from metafs.memory.weights import ModelHistory
from metafs.pipeline.fitting.parameters import of_rows
from metafs.pipeline.fitting.reference_rows import rarer_in_memory, reference_rows
from metafs.stats.discretise import discretise, discretise_target
from metafs.stats.information import SetInformation, entropy
from metafs.stats.linear import (
    COHERENCE,
    N_LABELS,
    STRENGTHS,
    LinearModel,
    fit_linear,
    measured_transfer,
    reference_weights,
    scales_of,
    weights_without,
)
from metafs.stats.linear.folds import some_rows
from metafs.stats.linear.rows import product
from metafs.stats.threads import threads_for

ROWS_FOR_BELIEF = 150
"""Rows of the model with memory, for explanations: with more memory matters little."""


@dataclass(frozen=True, eq=False)
class Learned:
    """What a problem's own models learned, ready to be remembered."""

    relevance: Array
    document_frequency: Array
    mean: Array
    spread: Array
    reference: ReferenceRows | None = None
    belief: BeliefRow | None = None
    weight: Array | None = None
    """(n_features,) In the model with memory, of the output where it is largest."""
    from_memory: Array | None = None
    """(n_features,) The part of it that memory supplied."""


def learned(
    problem: Problem,
    *,
    fit: bool = True,
    history: ModelHistory | None = None,
    fold_history: ModelHistory | None = None,
    apart_history: ModelHistory | None = None,
    seed: int | None = 0,
) -> Learned:
    """Learn from all columns what memory is to keep.

    Parameters
    ----------
    problem : Problem
    fit : bool
        Whether a reference model is wanted; memory may have one of equal content.
    history : ModelHistory, optional
        The models of near problems, on these columns.
    fold_history : ModelHistory, optional
        The same without problems of this source, nor any that share rows: with it is measured
        what memory would have given.
    apart_history : ModelHistory, optional
        If problems share rows, what is known without the rows set apart: it takes the place of
        `fold_history`, and only these rows are judged.
    seed : int, optional
    """
    with threads_for(problem.n_samples * problem.n_features):
        return _learned(problem, fit, history, fold_history, apart_history, seed or 0)


def _learned(
    problem: Problem,
    fit: bool,
    history: ModelHistory | None,
    fold_history: ModelHistory | None,
    apart_history: ModelHistory | None,
    seed: int,
) -> Learned:
    X, X_unlabelled = numeric_rows(problem)
    scales = scales_of(X)
    found = Learned(relevance(problem), scales.document_frequency, scales.mean, scales.spread)
    changes: dict[str, object] = {}
    if fit:
        model = fit_linear(
            X, problem.y, classes=problem.is_classification, seed=seed, **of_rows(problem)
        )
        apart, seen = rows_apart(problem), None
        if apart is not None:
            seen = weights_without(model, X, problem.y, apart, sample_weight=problem.sample_weight)
        if apart is None or apart_history is None:
            transfers = _transfers(problem, X, fold_history, None, seed)
        else:
            transfers = _transfers(problem, X, apart_history, ~apart, seed)
        known = None if history is None else history.weights.scales
        kept = reference_weights(model, matters=rarer_in_memory(model, scales, known))
        changes["reference"] = reference_rows(problem, model, kept, seen, transfers)
    if history is not None and history.weights.directions is not None:
        codes = problem.y if problem.is_classification else None
        some = some_rows(codes, problem.n_samples, ROWS_FOR_BELIEF, seed)
        model = fit_linear(
            X[some],
            problem.y[some],
            classes=problem.is_classification,
            prior=history.weights,
            X_unlabelled=X_unlabelled,
            seed=seed,
            **of_rows(problem, some),
        )
        changes["belief"] = _belief(model, history)
        largest = np.abs(model.coef).argmax(axis=0)[None]
        changes["weight"] = np.take_along_axis(model.coef, largest, axis=0)[0]
        changes["from_memory"] = np.take_along_axis(model.from_memory, largest, axis=0)[0]
    return Learned(**{**vars(found), **changes})


def relevance(problem: Problem) -> Array:
    """Return the univariate relevance of each column, between 0 and 1.

    Examples
    --------
    >>> X = [[0, 1, 5], [0, 0, 5], [1, 1, 5], [1, 0, 5]] * 10
    >>> relevance(Problem.of(X, ["a", "a", "b", "b"] * 10)).round(2)
    array([0.98, 0.  , 0.  ])
    """
    codes = discretise(problem.X, categories=problem.categories)
    y = problem.y if problem.is_classification else discretise_target(problem.y)
    information = SetInformation(codes.matrix, y).of_each()
    n_bins = np.array([len(labels) for labels in codes.labels])
    k_y = len(np.unique(y))
    by_chance = (n_bins - 1) * (k_y - 1) / (2 * problem.n_samples * np.log(2))
    return np.asarray(np.clip((information - by_chance) / entropy(np.bincount(y)), 0.0, 1.0))


def numeric_rows(problem: Problem) -> tuple[Matrix, Matrix | None]:
    """Return the labelled and the unlabelled rows as numbers, without missing values.

    A missing value is the mean of its column. Categories in no order become constant, so they get
    no weight.
    """
    labelled, more = problem.X, problem.X_unlabelled
    if issparse(labelled):
        if np.isnan(labelled.data).any() or problem.categories:
            labelled = csr_array(np.nan_to_num(labelled.toarray()))
        return labelled, None if more is None else csr_array(np.nan_to_num(_dense(more)))
    fill = np.zeros(problem.n_features)
    known = ~np.isnan(labelled)
    np.divide(
        np.where(known, labelled, 0.0).sum(axis=0), known.sum(axis=0), out=fill, where=known.any(0)
    )
    unordered = [column for column, labels in problem.categories.items() if len(labels) > 2]

    def filled(rows: Array) -> Array:
        rows = np.where(np.isnan(rows), fill, rows)
        rows[:, unordered] = 0.0
        return rows

    return filled(labelled), None if more is None else filled(_dense(more))


def _dense(rows: Matrix) -> Array:
    return np.asarray(rows.toarray() if issparse(rows) else rows)


def _transfers(
    problem: Problem,
    X: Matrix,
    history: ModelHistory | None,
    seen_rows: Array | None,
    seed: int,
) -> list[tuple[int, float, float]]:
    """Return labels, strength and loss of each trial of memory on this problem.

    In the place of a loss without any label stands how coherent past scores were.
    """
    if history is None:
        return []
    classes = problem.is_classification
    rows = np.arange(problem.n_samples)
    if problem.groups is not None:  # rows of one group would be both labelled and judged
        order = np.random.default_rng(seed).permutation(problem.n_samples)
        rows = np.sort(order[np.unique(problem.groups[order], return_index=True)[1]])
    loss, coherence = measured_transfer(
        X[rows],
        problem.y[rows],
        classes=classes,
        prior=history.weights,
        seen_rows=seen_rows,
        seed=seed,
    )
    if loss is None:
        return []
    return [(COHERENCE, 0.0, coherence)] + [
        (n_labels, strength, float(loss[row, column]))
        for row, n_labels in enumerate(N_LABELS)
        for column, strength in enumerate(STRENGTHS)
        if np.isfinite(loss[row, column])
    ]


def _belief(model: LinearModel, history: ModelHistory) -> BeliefRow:
    """Return the strength of memory in the model, and what each direction carries of it."""
    choice, directions = model.strength, history.weights.directions
    used = choice.s > 0 and directions is not None
    coefficients: Array = np.zeros(0)
    if used and directions is not None:
        # The part of each output is a sum of directions; the shortest solution is taken.
        table = directions.weights
        gram = product(table, table)
        coefficients = product(model.from_memory, table) @ np.linalg.pinv(gram, hermitian=True)
    return BeliefRow(
        strength=choice.s,
        reason=choice.why,
        gain=choice.gain,
        problem_ids=history.problem_ids.tolist() if used else [],
        outputs=list(directions.outputs) if used and directions is not None else [],
        coefficients=coefficients,
    )
