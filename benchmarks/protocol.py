"""What the reproductions share: the data, the splits, the methods and the linear SVM behind an AUC.

Everything is chosen on training data. A selector is fitted once on the training part of a split;
its ranking serves every number of features. Features are standardised with the means and standard
deviations of the training part before they reach the classifier, and C of the linear SVM (squared
hinge) is the one with the best AUC in a 5-fold cross-validation of the training part. The selection
is not repeated inside the folds, so C may come out too large for selectors that fit the training
part closely: with C = 0.01 svm-rfe had 94 instead of 90 on two splits of USPS.

Selectors see standardised features too. Only Inf-FS, which goes by standard deviations, sees them
as they are in the file (raw) or with each feature stretched to [0, 1] (unit). Its alpha is chosen
together with C, for each number of features; that is sound because Inf-FS does not look at the
labels. SVM-RFE drops one feature at a time, its ensemble a tenth of those left.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler
from sklearn.svm import LinearSVC

from metafs import Registry
from metafs.data.typing import Array

CS = 10.0 ** np.arange(-3, 3)
N_FOLDS = 5
ALPHAS = (0.0, 0.2, 0.5, 0.8, 1.0)
SCALERS = {"raw": FunctionTransformer, "standard": StandardScaler, "unit": MinMaxScaler}
USPS_PER_DIGIT = 150
LOG = " log"
LEAST_INTENSITY = 20


@dataclass(frozen=True)
class Method:
    """A selector of the registry, the scale on which it sees the features, and its settings."""

    selector: str
    paper: str = ""
    scale: str = "standard"
    tried: Sequence[Mapping[str, Any]] = field(default=({},))
    """Settings to choose among on training data; more than one only where labels are not used."""

    def is_in(self, selectors: Mapping[str, Any]) -> bool:
        return self.selector in selectors

    def rankings(self, X: Array, y: Array, seed: int) -> list[Array]:
        """Return the columns of X from best to worst, for each of the settings tried."""
        X = SCALERS[self.scale]().fit_transform(X)
        return [np.argsort(self.fitted(X, y, seed, settings).ranking_) for settings in self.tried]

    def fitted(self, X: Array, y: Array, seed: int, settings: Mapping[str, Any]) -> Any:
        selector = clone(Registry().selectors[self.selector]).set_params(**settings)
        if "random_state" in selector.get_params():
            selector.set_params(random_state=seed)
        return selector.fit(X, y)


class Chance(Method):
    """Features in random order: what the classifier reaches without a selector."""

    def is_in(self, selectors: Mapping[str, Any]) -> bool:
        return True

    def rankings(self, X: Array, y: Array, seed: int) -> list[Array]:
        return [np.random.default_rng([seed, len(X)]).permutation(X.shape[1])]


INFFS = tuple({"alpha": alpha} for alpha in ALPHAS)
METHODS = {
    "svm-rfe": Method("svm-rfe", "SVM-RFE"),
    "ensemble-svm-rfe": Method("ensemble-svm-rfe", "Ens. SVM-RFE", tried=({"step": 0.1},)),
    "sw-svm-rfe": Method("sw-svm-rfe", "SW SVM-RFE"),
    "relieff": Method("relieff", "ReliefF"),
    "sw-relieff": Method("sw-relieff", "SW ReliefF"),
    "fisher": Method("fisher", "Fisher"),
    "infogain": Method("infogain", "MutInf"),
    "fsv": Method("fsv", "FSV"),
    "inffs raw": Method("inffs", "Ours", "raw", INFFS),
    "inffs unit": Method("inffs", "Ours", "unit", INFFS),
    "relief": Method("relief"),
    "simba": Method("simba"),
    "gflip": Method("gflip"),
    "random order": Chance(""),
}


@lru_cache(maxsize=2)
def load(folder: str, name: str) -> tuple[Array, Array]:
    """Return a two-class problem as X and y in {0, 1}.

    "colon log" is colon with logarithms of its intensities, which are at least 20 for that.
    USPS stands for the one in Chapelle, Schölkopf, Zien, "Semi-Supervised Learning" (2006), which
    has 150 images of each digit, 2 and 5 against the rest, and 241 features made from the pixels:
    here are 150 random images of each digit with their 256 pixels.
    """
    with np.load(Path(folder) / f"{name.removesuffix(LOG)}.npz") as file:
        X, y = file["X"].astype(np.float64), file["y"]
    if name.endswith(LOG):
        X = np.log(np.maximum(X, LEAST_INTENSITY))
    if name == "USPS":
        rng = np.random.default_rng(0)
        drawn = [rng.permutation(np.flatnonzero(y == d))[:USPS_PER_DIGIT] for d in np.unique(y)]
        rows = np.concatenate(drawn)
        X, y = X[rows], np.isin(y[rows], (2, 5))
    return X, np.unique(y, return_inverse=True)[1]


def split(y: Array, number: int, train_share: float) -> tuple[Array, Array]:
    """Return the rows for training and for testing of a stratified random split."""
    one = StratifiedShuffleSplit(1, train_size=train_share, random_state=number)
    train, test = next(one.split(np.zeros(len(y)), y))
    return train, test


def auc(y: Array, decision: Array) -> float:
    """Return the area under the ROC curve of decision values, ties counting half."""
    n_1 = np.count_nonzero(y)
    n_0 = len(y) - n_1
    return float((rankdata(decision)[y == 1].sum() - n_1 * (n_1 + 1) / 2) / (n_0 * n_1))


def svm_auc(X: Array, y: Array, X_test: Array, y_test: Array, C: float) -> float:
    """Return the AUC of a linear SVM; the tolerance is LIBLINEAR's own."""
    svm = LinearSVC(C=C, dual=False, tol=1e-2, max_iter=10_000).fit(X, y)
    return auc(y_test, svm.decision_function(X_test))


def cross_validated_aucs(X: Array, y: Array, seed: int) -> Array:
    """Return the mean AUC over the folds for each C."""
    n_folds = min(N_FOLDS, np.bincount(y).min())
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(X, y)
    aucs = [[svm_auc(X[a], y[a], X[b], y[b], C) for C in CS] for a, b in folds]
    return np.mean(aucs, axis=0)


def chosen_auc(
    rankings: Sequence[Array],
    n_features: int,
    train: tuple[Array, Array],
    test: tuple[Array, Array],
    seed: int,
) -> tuple[float, int]:
    """Return the test AUC of the first features of the best ranking, and which ranking that is.

    Ranking and C are those with the best cross-validated AUC in training.
    """
    (X, y), (X_test, y_test) = train, test
    scaler = StandardScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    tops = [ranking[:n_features] for ranking in rankings]
    aucs = np.array([cross_validated_aucs(X[:, top], y, seed) for top in tops])
    best, c = np.unravel_index(aucs.argmax(), aucs.shape)
    columns = tops[best]
    return svm_auc(X[:, columns], y, X_test[:, columns], y_test, CS[c]), int(best)


def parsed_options(doc: str, data: Sequence[str], methods: Mapping[str, Method]) -> Any:
    """Return the options of a benchmark that tries methods on splits of several data sets."""
    selectors = Registry().selectors
    installed = [name for name, method in methods.items() if method.is_in(selectors)]
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("folder", help="where the .npz files are")
    parser.add_argument("--data", nargs="+", choices=data, default=data)
    parser.add_argument("--methods", nargs="+", choices=methods, default=installed)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--train-share", type=float, default=2 / 3)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, help="keep finished rows here, and go on from them")
    return parser.parse_args()


def results(work: Callable[..., dict[str, Any]], options: Any) -> dict[str, dict[Any, Array]]:
    """Return each quantity that ``work`` reports, by data set and method, one row per split."""
    tasks = [
        {"data": data, "method": method, "number": number, "train_share": options.train_share}
        for data in options.data
        for method in options.methods
        for number in range(options.splits)
    ]
    found: dict[str, dict[Any, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for row in rows_of(work, options.folder, tasks, options.out, options.jobs):
        for quantity in row.keys() - tasks[0].keys():
            found[quantity][row["data"], row["method"]].append(row[quantity])
    return {
        quantity: {key: np.array(values) for key, values in by_key.items()}
        for quantity, by_key in found.items()
    }


def rows_of(
    work: Callable[..., dict[str, Any]],
    folder: str,
    tasks: Iterable[dict[str, Any]],
    out: Path | None,
    n_jobs: int,
) -> Iterator[dict[str, Any]]:
    """Yield each task with its results, from the file ``out`` where it is already there.

    New rows are appended to the file as they are finished, so an interrupted run goes on.
    """
    kept = [json.loads(line) for line in out.open()] if out and out.exists() else []
    left = []
    for task in tasks:
        known = [row for row in kept if task.items() <= row.items()]
        yield from known[:1]
        left += [] if known else [task]
    pool = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    for row in pool(delayed(_row)(work, folder, task) for task in left):
        if out:
            with out.open("a") as file:
                file.write(json.dumps(row) + "\n")
        yield row


def _row(work: Callable[..., dict[str, Any]], folder: str, task: dict[str, Any]) -> dict[str, Any]:
    return task | work(folder, **task)


def with_published(ours: Iterable[str], paper: Iterable[float] | None) -> str:
    """Return cells of a markdown table, with the paper's figures in brackets where it has some."""
    if paper is None:
        return " | ".join(ours)
    pairs = zip(ours, paper, strict=True)
    return " | ".join(one if theirs is None else f"{one} ({theirs})" for one, theirs in pairs)
