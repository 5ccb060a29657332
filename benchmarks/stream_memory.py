"""A stream in memory: its problems, how they relate, what cold climbs reach, what is remembered.

Research on transfer runs a stream many times over. Here everything that does not depend on what
was solved before is computed once, and memory is a pair of arrays instead of a MetaDB.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from metafs import Problem, Registry
from metafs.data.readers import ReadOptions, sources
from metafs.data.typing import Array
from metafs.stats.relevance import information_of_each
from metafs.transfer.expectation import Experience
from metafs_climb import Climb
from metafs_metadb import FeatureHistory

NEIGHBOURS = 5


class Stream:
    """Problems, how they relate to each other, and what a cold climb reaches on each."""

    def __init__(self, folder: str, budget: int, part: int | None = None) -> None:
        self.name, self.budget = Path(folder).name, budget
        files = list(sources([folder], ReadOptions()))
        drawn = np.sort(np.random.default_rng(0).permutation(len(files))[:part])
        self.problems: list[Problem] = [files[number].read() for number in drawn]
        vocabulary = sorted({name for p in self.problems for name in p.feature_names})
        number = {name: index for index, name in enumerate(vocabulary)}
        self.ids = [np.array([number[name] for name in p.feature_names]) for p in self.problems]
        self.has = np.zeros((len(self.problems), len(vocabulary)))
        self.relative = np.zeros_like(self.has)
        for row, (problem, ids) in enumerate(zip(self.problems, self.ids, strict=True)):
            own = information_of_each(problem.X, problem.y, problem.categories)
            self.has[row, ids] = 1.0
            self.relative[row, ids] = own / max(own.max(), 1e-12)
        self.distance = distances(self.problems)
        self.cosine, self.correlation, self.common = alikeness(self.relative, self.has)
        self.unlikeness = np.sqrt(1.0 - self.cosine)
        self.cold = [cold_run(problem, budget) for problem in self.problems]


class Memory:
    """What a stream has left behind so far; rows are problems, columns the vocabulary."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.solved: list[int] = []
        self.selected = np.zeros_like(stream.has)

    def add(self, i: int, support: Array) -> None:
        self.selected[i, self.stream.ids[i][support]] = 1.0
        self.solved.append(i)

    def nearest(self, distance: Array) -> list[Experience]:
        """Return what the product's `expect` asks for."""
        stream, order = self.stream, sorted(self.solved, key=lambda j: distance[j])
        return [
            Experience(
                stream.problems[j].name,
                "",
                float(distance[j]),
                stream.problems[j].feature_names,
                stream.relative[j, stream.ids[j]],
                self.selected[j, stream.ids[j]],
                self.selected[j, stream.ids[j]] > 0,
            )
            for j in order[:NEIGHBOURS]
            if distance[j] < 1.0
        ]

    def record(self, i: int) -> FeatureHistory:
        ids, rows = self.stream.ids[i], np.array(self.solved)[:, None]
        had, chosen = (counts[rows, ids].sum(axis=0) for counts in (self.stream.has, self.selected))
        return FeatureHistory(len(rows), had.astype(int), chosen.astype(int))


def distances(problems: Sequence[Problem]) -> Array:
    """Return jsd-features between all problems."""
    jsd = Registry().distances["jsd-features"]
    signatures = [jsd.signature(problem) for problem in problems]
    d = np.zeros((len(problems), len(problems)))
    for i, one in enumerate(signatures):
        for j in range(i):
            d[i, j] = d[j, i] = jsd.distance(one, signatures[j])
    return d


def alikeness(relative: Array, has: Array) -> tuple[Array, Array, Array]:
    """Return cosine, correlation on common features, and share of common ones, of all problems."""
    norm = np.linalg.norm(relative, axis=1)
    products, common = relative @ relative.T, has @ has.T
    n = np.maximum(common, 1.0)
    mean, square = relative @ has.T / n, relative**2 @ has.T / n
    spread = np.sqrt(np.clip(square - mean**2, 1e-12, None))
    correlation = np.where(common < 5, 0.0, (products / n - mean * mean.T) / (spread * spread.T))
    size = np.sqrt(has.sum(axis=1))
    return (
        np.clip(products / np.outer(norm, norm), 0, 1),
        correlation,
        common / np.outer(size, size),
    )


def cold_run(problem: Problem, budget: int) -> tuple[int, float]:
    """Return after how many evaluations the cold climb had its final fitness, and that fitness."""
    climb = Climb(max_evaluations=budget, random_state=0).fit(problem.X, problem.y)
    reached = [step for step, _, f in climb.candidates_ if f >= climb.fitness_ - 1e-12]
    return min(reached, default=climb.n_evaluations_), climb.fitness_
