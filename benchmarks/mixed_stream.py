"""A stream of problems that have nothing to do with one another.

Seven sets of gene expression, each of other patients, madelon, and one pair of labels or one task
of each other collection. Every feature carries the name of its collection, so no two problems
share a name, and none has meta-features, so memory has no way from one to another. A second draw
takes other labels or another task of each collection that has some left, under names of its own;
what has only one problem to give is taken once.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from image_stream import load_arrays, rows_of_classes
from text_stream import draw, each_text_pair, order_of, read_texts

from metafs import Problem
from metafs.data.checks import listing
from metafs.data.parameters import check_at_least
from metafs.data.readers.files import shown, stem_of
from metafs.data.typing import Array
from metafs.errors import UsageError


@dataclass(frozen=True)
class Rules:
    """How much of a collection becomes a problem."""

    samples: int
    min_df: int
    mi: float
    seed: int


def unrelated(
    folder: str | Path,
    *,
    samples: int = 150,
    min_df: int = 3,
    mi: float = 0.02,
    seed: int = 0,
    draws: int = 1,
) -> list[Problem]:
    """Return problems that share no feature, by name, from the files of a folder.

    At most `samples` are drawn from each class; `min_df` and `mi` are those of `text_pairs`.
    """
    check_at_least("samples", samples, 2)
    check_at_least("seed", seed, 0)
    check_at_least("draws", draws)
    missing = [name for name in COLLECTIONS if not (Path(folder) / name).is_file()]
    if missing:
        raise UsageError(f"the folder '{shown(Path(folder))}' lacks {listing(missing)}; add them.")
    problems = []
    for name, problems_of in COLLECTIONS.items():
        drawn = problems_of(Path(folder) / name, Rules(samples, min_df, mi, seed))
        for number, problem in enumerate(islice(drawn, draws), start=1):
            stem = stem_of(Path(name))
            problems.append(of_its_own(problem, f"{stem} {number}" if draws > 1 else stem))
    return sorted(problems, key=lambda problem: problem.name)


def of_its_own(problem: Problem, own: str) -> Problem:
    """Return the problem with names that nothing outside of `own` has, and no meta-features."""
    return replace(
        problem,
        name=f"{own}: {problem.name}" if problem.name else own,
        feature_names=tuple(f"{own}: {name}" for name in problem.feature_names),
        meta_features=None,
        meta_feature_names=(),
    )


def whole(path: Path, rules: Rules) -> Iterator[Problem]:
    """Yield the one problem of telling all classes apart."""
    X, y = load_arrays(path, "X", "y")
    yield _drawn(X, y, rules, name="", path=path)


def pairs_of_classes(path: Path, rules: Rules) -> Iterator[Problem]:
    """Yield problems of two classes each, no class twice."""
    X, y = load_arrays(path, "X", "y")
    for one, two in _disjoint_pairs(np.unique(y).tolist(), path, rules):
        rows = np.flatnonzero((y == one) | (y == two))
        yield _drawn(X[rows], y[rows], rules, name=f"{one} vs {two}", path=path)


def tasks(path: Path, rules: Rules) -> Iterator[Problem]:
    """Yield the tasks of a file that holds several."""
    X, y, task_of = load_arrays(path, "X", "y", "task")
    tasks = np.unique(task_of)
    for task in tasks[order_of(path.stem, len(tasks), rules.seed)]:
        rows = task_of == task
        yield _drawn(X[rows], y[rows], rules, name=f"task {task}", path=path)


def pairs_of_labels(path: Path, rules: Rules) -> Iterator[Problem]:
    """Yield problems of two labels of texts each, no label twice."""
    texts = draw(read_texts(path), rules.samples, None, rules.seed, where=shown(path))
    for pair in _disjoint_pairs(list(texts), path, rules):
        drawn = {label: texts[label] for label in pair}
        yield from each_text_pair(drawn, [pair], min_df=rules.min_df, mi=rules.mi, source=path)


def _drawn(X: Array, y: Array, rules: Rules, *, name: str, path: Path) -> Problem:
    rows = np.concatenate(list(rows_of_classes(y, rules.samples, rules.seed).values()))
    return Problem.of(
        X[rows].astype(float),
        y[rows].astype(str),
        feature_names=[f"x{j}" for j in range(X.shape[1])],
        name=name,
        source=shown(path),
    )


def _disjoint_pairs(labels: Sequence[Any], path: Path, rules: Rules) -> list[tuple[Any, Any]]:
    order = order_of(path.stem, len(labels), rules.seed)
    pairs = zip(order[::2], order[1::2], strict=False)
    return [(labels[min(pair)], labels[max(pair)]) for pair in pairs]


COLLECTIONS: Mapping[str, Callable[[Path, Rules], Iterator[Problem]]] = {
    "colon.npz": whole,
    "leukemia.npz": whole,
    "lymphoma.npz": whole,
    "DLBCL.npz": whole,
    "SRBCT.npz": whole,
    "Prostate_GE.npz": whole,
    "GLIOMA.npz": whole,
    "madelon.npz": whole,
    "20newsgroups.jsonl.gz": pairs_of_labels,
    "ohsumed23.jsonl.gz": pairs_of_labels,
    "webkb4.jsonl.gz": pairs_of_labels,
    "USPS.npz": pairs_of_classes,
    "MNIST.npz": pairs_of_classes,
    "Isolet.npz": pairs_of_classes,
    "COIL20.npz": pairs_of_classes,
    "warpPIE10P.npz": pairs_of_classes,
    "landmine.npz": tasks,
}
