"""What a practitioner would do: models without memory, and simple uses of past problems.

Everything is chosen by cross-validation of the labelled rows.
"""

import warnings
from typing import Any

import numpy as np
from remembered.streams import New, Stream
from scipy.sparse import issparse
from scipy.sparse import vstack as sparse_vstack
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.feature_selection import SelectKBest, f_classif, f_regression
from sklearn.linear_model import LassoCV, LogisticRegression, RidgeCV
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

C_GRID = np.geomspace(1e-2, 1e3, 6)
ALPHAS = np.geomspace(1e-2, 1e3, 11)
K_GRID = (10, 30, 100, 300, 1000)
MOST_POOLED = 6000


def preparer(stream: Stream, X: Any, X_unlabelled: Any = None) -> Any:
    """Return tf-idf or standardisation, learned from the labelled or from all rows at hand."""
    rows = X
    if X_unlabelled is not None and X_unlabelled.shape[0]:
        rows = sparse_vstack([X, X_unlabelled]) if issparse(X) else np.vstack([X, X_unlabelled])
    return (TfidfTransformer() if stream.words else StandardScaler()).fit(rows)


def folds(y: Any, classes: bool) -> Any:
    if not classes:
        return KFold(min(5, len(y)), shuffle=True, random_state=0)
    return StratifiedKFold(
        int(min(5, np.unique(y, return_counts=True)[1].min())), shuffle=True, random_state=0
    )


def logistic(penalty: str, n_classes: int) -> Any:
    model = LogisticRegression(
        l1_ratio=1.0 if penalty == "l1" else 0.0, solver="liblinear", max_iter=200
    )
    return model if n_classes == 2 else OneVsRestClassifier(model)


def decision(model: Any, X: Any) -> Any:
    """Return decision values of shape (n_rows, n_outputs)."""
    if hasattr(model, "decision_function"):
        found = model.decision_function(X)
        return found[:, None] if found.ndim == 1 else found
    return np.asarray(model.predict(X)).reshape(-1, 1)


def regularised(stream: Stream, new: New, rows: Any, penalty: str, unlabelled: bool) -> Any:
    """Return test decisions of L2 or L1 regression on all columns."""
    X, y = new.X[rows], new.y[rows]
    ready = preparer(stream, X, new.X_unlabelled if unlabelled else None)
    Z, Z_test = ready.transform(X), ready.transform(new.X_test)
    if not stream.classes:
        cv = folds(y, False)
        model = RidgeCV(ALPHAS * len(y) / 10, cv=cv) if penalty == "l2" else LassoCV(cv=cv)
        return decision(model.fit(Z, y), Z_test)
    model = logistic(penalty, len(np.unique(y)))
    name = "C" if len(np.unique(y)) == 2 else "estimator__C"
    search = GridSearchCV(model, {name: C_GRID}, cv=folds(y, True), scoring="accuracy")
    return decision(search.fit(Z, y), Z_test)


def k_best(stream: Stream, new: New, rows: Any) -> Any:
    """Return test decisions of L2 regression on the k best columns, k and C tuned."""
    X, y = new.X[rows], new.y[rows]
    ready = preparer(stream, X, new.X_unlabelled)
    Z, Z_test = ready.transform(X), ready.transform(new.X_test)
    width = Z.shape[1]
    sizes = sorted({min(k, width) for k in K_GRID})
    if stream.classes:
        two = len(np.unique(y)) == 2
        steps = [("k", SelectKBest(f_classif)), ("model", logistic("l2", len(np.unique(y))))]
        grid = {"k__k": sizes, "model__C" if two else "model__estimator__C": C_GRID[1::2]}
    else:
        steps = [("k", SelectKBest(f_regression)), ("model", RidgeCV(ALPHAS))]
        grid = {"k__k": sorted({min(k, width) for k in (1, 2, 5, 10, 30)})}
    search = GridSearchCV(Pipeline(steps), grid, cv=folds(y, stream.classes))
    return decision(search.fit(Z, y), Z_test)


def by_selector(stream: Stream, new: New, rows: Any, selector: Any, prior: Any) -> Any:
    """Return test decisions of L2 regression on what one of our own selectors keeps."""
    X, y = new.X[rows], new.y[rows]
    kept = np.flatnonzero(clone(selector).fit(X, y, prior=prior).get_support())
    ready = preparer(stream, X, new.X_unlabelled)
    Z, Z_test = ready.transform(X)[:, kept], ready.transform(new.X_test)[:, kept]
    if not stream.classes:
        return decision(RidgeCV(ALPHAS).fit(Z, y), Z_test)
    two = len(np.unique(y)) == 2
    grid = {"C" if two else "estimator__C": C_GRID}
    search = GridSearchCV(logistic("l2", len(np.unique(y))), grid, cv=folds(y, True))
    return decision(search.fit(Z, y), Z_test)


def mean_of_past(stream: Stream, new: New, rows: Any, prior: Any, ready: Any) -> Any:
    """Return test decisions of the mean of past models, its slope and sign by the labels."""
    if prior.directions is None:
        return None
    mean = np.asarray(prior.directions.weights.mean(axis=0)).ravel()
    score = (ready(new.X[rows]) @ mean)[:, None]
    test = (ready(new.X_test) @ mean)[:, None]
    unit = score.std() or 1.0
    model = LogisticRegression() if stream.classes else RidgeCV()
    return decision(model.fit(score / unit, new.y[rows]), test / unit)


class Pooled:
    """One model over the rows of all past problems, if these could be kept."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        pairs = [(each.X, each.y) for each in stream.past]
        stack = sparse_vstack if issparse(pairs[0][0]) else np.vstack
        X, y = stack([x for x, _ in pairs]), np.concatenate([y for _, y in pairs])
        some = np.random.default_rng(0).permutation(len(y))[:MOST_POOLED]
        X, y = X[some], y[some]
        self.ready = preparer(stream, X)
        Z = self.ready.transform(X)
        self.model = (
            RidgeCV(ALPHAS).fit(Z, y)
            if not stream.classes
            else logistic("l2", len(np.unique(y))).fit(Z, y)
        )

    def __call__(self, new: New) -> Any:
        found = decision(self.model, self.ready.transform(new.X_test))
        if not self.stream.classes or found.shape[1] == 1:
            return found
        wanted, known = np.unique(new.y), list(self.model.classes_)
        if not set(wanted) <= set(known):
            return None
        found = found[:, [known.index(c) for c in wanted]]
        return found[:, 1:] - found[:, :1] if len(wanted) == 2 else found


def quietly(function: Any, *arguments: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        warnings.simplefilter("ignore", FutureWarning)
        return function(*arguments)
