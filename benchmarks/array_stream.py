"""Pairs of classes of images, and a stream of problems that have nothing to do with one another.

Images: a feature is a pixel, named by row and column, which are also its meta-features; from each
class as many images are drawn as asked for, the same in all its pairs.

Unrelated: seven sets of gene expression, each of other patients, madelon, and one pair of labels or
one task of each other collection. Every feature carries the name of its collection, so no two
problems share a name, and none has meta-features, so memory has no way from one to another. A
second draw takes other labels or another task of each collection that has some left, under names
of its own; what has only one problem to give is taken once.
"""

import zipfile
import zlib
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np
from text_stream import draw, each_text_pair, read_texts, some

from metafs import Problem
from metafs.checks import listing
from metafs.errors import UsageError
from metafs.parameters import check_at_least, check_between
from metafs.readers.files import shown
from metafs.typing import Array

WHOLE = (
    *("colon", "leukemia", "lymphoma", "DLBCL", "SRBCT", "Prostate_GE", "GLIOMA"),
    "madelon",
)
TEXTS = ("20newsgroups", "ohsumed23", "webkb4")
CLASSES = ("USPS", "MNIST", "Isolet", "COIL20", "warpPIE10P")
TASKS = ("landmine",)
SPLITS = {"train": 0, "test": 1}


def digit_pairs(
    path: str | Path,
    *,
    images: int = 150,
    seed: int = 0,
    pairs: int | None = None,
    split: str | None = None,
    binary: float | None = None,
) -> list[Problem]:
    """Return one problem for each pair of classes of square images, in the order of the classes.

    With `split`, train or test, only those are drawn from. With `binary` a pixel is 1 where it is
    at least this share of the brightest one of the file, else 0.
    """
    where = shown(Path(path))
    check_at_least("images", images)
    X, y = _table(path, split)
    side = isqrt(X.shape[1])
    if side * side != X.shape[1]:
        raise UsageError(f"{where}: {X.shape[1]} columns are not the pixels of a square image.")
    if binary is not None:
        check_between("binary", binary, 0, 1)
        X = X >= binary * float(X.max())
    drawn = {
        c: rows for c, rows in _rows_of_classes(y, images, seed).items() if len(rows) == images
    }
    if len(drawn) < 2:
        most = ", ".join(map(str, sorted(np.unique(y, return_counts=True)[1])[:-3:-1]))
        raise UsageError(
            f"{where}: a pair needs two classes with at least {images} images, the largest have "
            f"{most}; lower --images."
        )
    places = np.array([(row, column) for row in range(side) for column in range(side)])
    return [
        Problem.of(
            X[np.concatenate([drawn[one], drawn[two]])].astype(float),
            np.repeat([one, two], images),
            feature_names=[f"pixel_{row}_{column}" for row, column in places],
            name=f"{Path(path).stem} {one} vs {two}",
            target="digit",
            source=where,
            meta_features=places.astype(float),
            meta_feature_names=("row", "column"),
        )
        for one, two in some(list(combinations(drawn, 2)), pairs, seed)
    ]


def unrelated(
    folder: str | Path,
    *,
    samples: int = 150,
    min_df: int = 3,
    mi: float = 0.02,
    seed: int = 0,
    draws: int = 1,
) -> list[Problem]:
    """Return problems that share no feature, from the files of a folder, with `samples` a class.

    Classes that have fewer samples are taken whole.
    """
    check_at_least("samples", samples, 2)
    check_at_least("draws", draws)
    folder = Path(folder)
    files = [
        *(f"{name}.npz" for name in (*WHOLE, *CLASSES, *TASKS)),
        *(f"{name}.jsonl.gz" for name in TEXTS),
    ]
    missing = [name for name in files if not (folder / name).is_file()]
    if missing:
        raise UsageError(f"the folder '{shown(folder)}' lacks {listing(missing)}; add them.")
    problems = [_whole(folder / f"{name}.npz", samples, seed) for name in WHOLE]
    for name in TEXTS:
        path = folder / f"{name}.jsonl.gz"
        problems += _text_draws(path, name, draws, seed, samples, min_df=min_df, mi=mi)
    for name in CLASSES:
        problems += _class_draws(folder / f"{name}.npz", draws, seed, samples)
    for name in TASKS:
        problems += _task_draws(folder / f"{name}.npz", draws, seed, samples)
    return problems


def _whole(path: Path, samples: int, seed: int) -> Problem:
    X, y = _table(path)
    rows = np.concatenate(list(_rows_of_classes(y, samples, seed).values()))
    return _of_its_own(X[rows], y[rows], path.stem, path)


def _text_draws(
    path: Path, name: str, draws: int, seed: int, samples: int, **rules: Any
) -> Iterator[Problem]:
    drawn = draw(read_texts(path), samples, samples, seed, where=shown(path))
    for number, (one, two) in enumerate(_disjoint_pairs(list(drawn), draws, seed)):
        pair = tuple(sorted((one, two)))
        of_pair = {label: drawn[label] for label in pair}
        for problem in each_text_pair(of_pair, [pair], source=path, **rules):
            labels = np.array(problem.classes)[problem.y]
            own = _numbered(name, number)
            yield _of_its_own(problem.X, labels, own, path, problem.name, problem.feature_names)


def _class_draws(path: Path, draws: int, seed: int, samples: int) -> Iterator[Problem]:
    X, y = _table(path)
    rows_of = _rows_of_classes(y, samples, seed)
    for number, pair in enumerate(_disjoint_pairs(list(rows_of), draws, seed)):
        rows = np.concatenate([rows_of[c] for c in sorted(pair)])
        what = " vs ".join(map(str, sorted(pair)))
        yield _of_its_own(X[rows], y[rows], _numbered(path.stem, number), path, what)


def _task_draws(path: Path, draws: int, seed: int, samples: int) -> Iterator[Problem]:
    arrays = _load(path, ("X", "y", "task"))
    X, y, task = arrays["X"], arrays["y"], arrays["task"]
    tasks = np.random.default_rng(seed).permutation(np.unique(task))[:draws]
    for number, chosen in enumerate(tasks.tolist()):
        here = np.flatnonzero(task == chosen)
        rows = here[np.concatenate(list(_rows_of_classes(y[here], samples, seed).values()))]
        own = _numbered(path.stem, number)
        yield _of_its_own(X[rows], y[rows], own, path, f"task {chosen}")


def _of_its_own(
    X: Any, y: Array, own: str, path: Path, what: str = "", names: Sequence[str] | None = None
) -> Problem:
    """Return a problem whose name and features begin with what nobody else is called."""
    names = [f"x{j}" for j in range(X.shape[1])] if names is None else names
    return Problem.of(
        X.astype(float),
        y,
        feature_names=[f"{own}: {name}" for name in names],
        name=f"{own}: {what}" if what else own,
        task="classes",
        source=shown(path),
    )


def _numbered(name: str, number: int) -> str:
    return f"{name} {number + 1}" if number else name


def _disjoint_pairs(labels: Sequence[Any], n: int, seed: int) -> list[tuple[Any, Any]]:
    order = np.random.default_rng(seed).permutation(len(labels))
    return [
        (labels[i], labels[j])
        for i, j in zip(order[: 2 * n : 2], order[1 : 2 * n : 2], strict=False)
    ]


def _rows_of_classes(y: Array, n: int, seed: int) -> dict[Any, Array]:
    """Return at most n rows of each class, in random order."""
    return {
        c: np.random.default_rng([seed, number]).permutation(np.flatnonzero(y == c))[:n]
        for number, c in enumerate(np.unique(y).tolist())
    }


def _table(path: str | Path, split: str | None = None) -> tuple[Array, Array]:
    if split is None:
        arrays = _load(path, ("X", "y"))
        return arrays["X"], arrays["y"]
    if split not in SPLITS:
        raise UsageError(f"there is no split '{split}'; say train or test.")
    arrays = _load(path, ("X", "y", "split"))
    rows = arrays["split"] == SPLITS[split]
    return arrays["X"][rows], arrays["y"][rows]


def _load(path: str | Path, keys: Sequence[str]) -> dict[str, Array]:
    where = shown(Path(path))
    try:
        with np.load(path, allow_pickle=False) as file:
            missing = [key for key in keys if key not in file]
            if missing:
                raise UsageError(f"{where}: holds no array {listing(missing)}; add it.")
            return {key: file[key] for key in keys}
    except FileNotFoundError:
        raise UsageError(f"there is no file '{where}'; check the path.") from None
    except UsageError:  # a ValueError too, but one that already is a sentence
        raise
    except (OSError, ValueError, EOFError, TypeError, zipfile.BadZipFile, zlib.error) as error:
        raise UsageError(f"{where}: cannot be read as npz: {error}.") from None
