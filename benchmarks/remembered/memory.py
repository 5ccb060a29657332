"""Memory of a stream's past problems, built by the pure functions, without a database."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from remembered.streams import Past, Stream

from metafs import Problem
from metafs.memory.past_columns import MOST_SOURCES
from metafs.pipeline.fitting.reference import relevance
from metafs.plugin.prior import Prior, Source
from metafs.stats.linear import (
    N_LABELS,
    STRENGTHS,
    Directions,
    TransferExperience,
    WeightPrior,
    coherence,
    fit_linear,
    pool,
    reference_weights,
    scales_of,
    transfer_curve,
)

LEAST_KNOWN = 3  # problems that memory must know before transfer is measured


@dataclass(frozen=True)
class Remembered:
    """What each past problem left, in the order of the stream."""

    weights: list[Any]
    """(n_outputs, n_features) for each problem."""
    outputs: list[list[str]]
    n_labels: list[int]
    scales: list[Any]
    """Pooled over the problems up to each."""
    curves: list[Any]
    """Loss by number of labels and strength, or None."""
    coherences: list[float]
    relevances: list[Any]
    """(n_features,) The relevance of each column by itself, the best 1."""

    def expectations(self) -> Prior:
        """Return the prior of selectors that look at single features."""
        share = 1 / len(self.relevances)
        sources = [Source(f"past {k}", 0.5, share, r) for k, r in enumerate(self.relevances)]
        mean = np.mean(self.relevances, axis=0)
        return Prior(
            mean, guides=True, relevance=mean, relevance_sources=tuple(sources[-MOST_SOURCES:])
        )

    def prior(self, n: int | None = None) -> WeightPrior:
        """Return what memory says after its first n problems."""
        n = len(self.weights) if n is None else n
        measured = [k for k in range(n) if self.curves[k] is not None]
        experience = None
        if measured:
            experience = TransferExperience(
                np.array(N_LABELS),
                np.array(STRENGTHS),
                np.array([self.curves[k] for k in measured]),
                np.array([1.0 if k >= n // 2 else 0.25 for k in measured]),
                np.array([self.coherences[k] for k in measured]),
            )
        return WeightPrior(self.directions(n), self.scales[n - 1], experience)

    def directions(self, n: int) -> Directions:
        rows = [len(each) for each in self.weights[:n]]
        return Directions(
            np.vstack(self.weights[:n]),
            tuple(f"past {k}" for k in np.repeat(range(n), rows)),
            tuple(name for each in self.outputs[:n] for name in each),
            np.full(sum(rows), 0.5),
            np.repeat(self.n_labels[:n], rows).astype(float),
        )


def relevance_alone(past: Past) -> Any:
    found = relevance(Problem.of(past.X, past.y))
    return found / max(found.max(), 1e-9)


def remember(stream: Stream, k: int = 1000, *, single: bool = False) -> Remembered:
    """Solve the past problems one after the other; `single` columns are judged if asked for."""
    memory = Remembered([], [], [], [], [], [], [])
    for past in stream.past:
        known = len(memory.weights)
        curve, coherent = None, 0.0
        if known >= LEAST_KNOWN:
            prior = WeightPrior(memory.directions(known), memory.scales[-1])
            curve = transfer_curve(
                past.X_unseen, past.y_unseen, classes=stream.classes, prior=prior
            )
            coherent = coherence(past.X_unseen, prior)
        here = scales_of(past.X)
        memory.scales.append(pool(here, memory.scales[-1]) if known else here)
        model = fit_linear(
            past.X, past.y, classes=stream.classes, prior=WeightPrior(scales=memory.scales[-1])
        )
        kept = np.zeros_like(model.coef)
        for row, largest in zip(kept, reference_weights(model, k), strict=True):
            row[largest.columns] = largest.weights
        memory.weights.append(kept)
        names = [None] if model.classes is None else [str(c) for c in model.classes[-len(kept) :]]
        memory.outputs.append(names)
        memory.n_labels.append(len(past.y))
        memory.curves.append(curve)
        memory.coherences.append(coherent)
        memory.relevances.append(relevance_alone(past) if single else np.zeros(past.X.shape[1]))
    return memory
