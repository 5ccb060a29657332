"""The arms of the comparison: each returns decision values of the test rows."""

from dataclasses import replace
from typing import Any

import numpy as np
from remembered import controls
from remembered.command import Commanded
from remembered.memory import Remembered
from remembered.streams import New, Stream
from sklearn.base import clone
from sklearn.metrics import log_loss, roc_auc_score

from metafs.plugin.prior import Prior
from metafs.stats.linear import Directions, WeightPrior, fit_linear, project, refitted
from metafs.stats.linear.rows import stacked
from metafs_climb.climb import Climb
from metafs_filters.fisher import FisherSelector
from metafs_filters.shrunk import ShrunkSelector
from metafs_margin import ReliefF, Simba
from metafs_remembered import ProjectedSelector
from metafs_svm import FSV, SVMRFE, SWSVMRFE

SELECTORS = {
    "svm-rfe": SVMRFE(50, step=0.2),
    "sw-svm-rfe": SWSVMRFE(50, step=0.2),
    "fsv": FSV(50),
    "simba": Simba(50, random_state=0),
    "relieff": ReliefF(50),
    "fisher": FisherSelector(50),
    "projected": ProjectedSelector(50),
}
MEMORY_FREE = ("L2", "L2, labelled df", "L1", "k best", "own")


def measured(stream: Stream, decisions: Any, new: New) -> float:
    """Return accuracy in % averaged over classes, AUC in %, or the squared error."""
    if decisions is None:
        return np.nan
    if not stream.classes:
        return float(np.mean((decisions[:, 0] - new.y_test) ** 2))
    classes = np.unique(new.y)
    if stream.measure == "AUC":
        return 100 * float(roc_auc_score(new.y_test == classes[1], decisions[:, 0]))
    best = (decisions[:, 0] > 0).astype(int) if decisions.shape[1] == 1 else decisions.argmax(1)
    right = classes[best] == new.y_test
    return 100 * float(np.mean([right[new.y_test == c].mean() for c in classes]))


def fitted(stream: Stream, new: New, rows: Any, prior: Any, **options: Any) -> Any:
    unlabelled = options.pop("X_unlabelled", new.X_unlabelled)
    return fit_linear(
        new.X[rows],
        new.y[rows],
        classes=stream.classes,
        prior=prior,
        X_unlabelled=unlabelled,
        **options,
    )


def without_directions(prior: WeightPrior) -> WeightPrior:
    return WeightPrior(scales=prior.scales)


def basis(prior: WeightPrior, rank: int = 8) -> WeightPrior:
    """Return the prior with the first singular vectors of the directions instead of them."""
    W = prior.directions.weights
    unit = W / np.maximum(np.linalg.norm(W, axis=1, keepdims=True), 1e-300)
    _, values, vectors = np.linalg.svd(unit, full_matrices=False)
    return replace(prior, directions=Directions.of(values[:rank, None] * vectors[:rank]))


def shrunk(n_features: int) -> ShrunkSelector:
    return ShrunkSelector(min(50, max(1, n_features // 2)))


def compared(
    stream: Stream,
    new: New,
    rows: Any,
    memory: Commanded,
    pooled: Any,
    expectations: Any = None,
) -> Any:
    """Return the measure of each arm, and the log-loss of the model with memory."""
    prior = memory.prior(new, rows)
    with_memory = fitted(stream, new, rows, prior)
    scales_only = fitted(stream, new, rows, without_directions(prior))
    own = fitted(stream, new, rows, None)
    quietly, shared = controls.quietly, (stream, new, rows)
    found = {
        "remembered": with_memory.decision_function(new.X_test),
        "scales only": scales_only.decision_function(new.X_test),
        "own": own.decision_function(new.X_test),
        "L2": quietly(controls.regularised, *shared, "l2", True),
        "L2, labelled df": quietly(controls.regularised, *shared, "l2", False),
        "L1": quietly(controls.regularised, *shared, "l1", True),
        "k best": quietly(controls.k_best, *shared),
        "mean of past": quietly(controls.mean_of_past, *shared, prior, with_memory.preparation),
        "pooled": None if pooled is None else pooled(new),
    }
    if expectations is not None:
        chosen = {"shrunk, 50": shrunk(new.X.shape[1]), "climb": Climb(random_state=0)}
        for arm, selector in chosen.items():
            found[arm] = quietly(controls.by_selector, *shared, selector, expectations)
    row = {arm: measured(stream, each, new) for arm, each in found.items()}
    row["strength"] = with_memory.strength.s
    if stream.classes:
        probabilities = with_memory.predict_proba(new.X_test)
        row["log-loss"] = float(log_loss(new.y_test, probabilities, labels=np.unique(new.y)))
    return row


def ablated(stream: Stream, new: New, rows: Any, memory: Remembered) -> dict[str, float]:
    """Return the measure with parts of memory, and with strength chosen in each way."""
    prior = memory.prior()
    variants = {
        "both": (prior, {}),
        "own labels": (replace(prior, experience=None), {}),
        "without coherence record": (
            replace(
                prior, experience=prior.experience and replace(prior.experience, coherence=None)
            ),
            {},
        ),
        "basis of rank 8": (basis(prior), {}),
        "no unlabelled rows": (prior, {"X_unlabelled": None}),
        "directions only": (replace(prior, scales=None), {}),
        **{f"s = {s:g}": (prior, {"strength": s}) for s in (0.3, 1.0, 3.0)},
    }
    row = {
        name: measured(
            stream, fitted(stream, new, rows, given, **options).decision_function(new.X_test), new
        )
        for name, (given, options) in variants.items()
    }
    if prior.experience is not None:
        from metafs.stats.linear.strength import choose_strength

        n = len(rows) / len(np.unique(new.y[rows])) if stream.classes else len(rows)
        model = fitted(stream, new, rows, prior)
        choice = choose_strength(
            model.strength.strengths, None, prior.experience, n, prior.experience.coherence.mean()
        )
        model = fitted(stream, new, rows, prior, strength=choice.s)
        row["experience"] = measured(stream, model.decision_function(new.X_test), new)
    return row


def selected(stream: Stream, new: New, rows: Any, memory: Remembered) -> dict[str, float]:
    """Return the measure of models on 10 and 50 projected columns, and of the best by F test."""
    found = {}
    cases = {
        "memory": (memory.prior(), new.X_unlabelled),
        "memory, no unlabelled": (memory.prior(), None),
        "no memory": (None, new.X_unlabelled),
    }
    for name, (prior, unlabelled) in cases.items():
        model = fitted(stream, new, rows, prior, X_unlabelled=unlabelled)
        everything = stacked(new.X[rows], unlabelled)
        projection = project(model, everything, 50)
        for k in (10, 50):
            columns = projection.order[:k]
            small = refitted(model, new.X[rows], new.y[rows], columns, X_unlabelled=unlabelled)
            test = new.X_test[:, columns]
            found[f"{name}, {k}"] = measured(stream, small.decision_function(test), new)
    found.update(_by_f_test(stream, new, rows))
    return found


def with_prior(stream: Stream, new: New, rows: Any, memory: Remembered) -> dict[str, float]:
    """Return the measure of 50 columns by selectors with and without memory.

    The learner has memory in all cases. Columns that vary in fewer than three of all rows at hand
    take no part, to save time.
    """
    everything = stacked(new.X[rows], new.X_unlabelled)
    varies = np.flatnonzero(np.asarray((everything != 0).sum(axis=0)).ravel() >= 3)
    known = replace(memory.prior(), words=np.full(new.X.shape[1], stream.words)).columns(varies)
    X, y, X_unlabelled = new.X[rows][:, varies], new.y[rows], new.X_unlabelled[:, varies]
    prior = Prior(np.zeros(len(varies)), weights=known)
    found = {}
    for name, selector in SELECTORS.items():
        for when, given in (("", None), (", with prior", prior)):
            chosen = clone(selector).fit(X, y, prior=given)
            kept = np.flatnonzero(chosen.ranking_ <= 50)
            model = fit_linear(
                X[:, kept],
                y,
                classes=stream.classes,
                prior=known.columns(kept),
                X_unlabelled=X_unlabelled[:, kept],
            )
            decisions = model.decision_function(new.X_test[:, varies[kept]])
            found[name + when] = measured(stream, decisions, new)
    return found


def _by_f_test(stream: Stream, new: New, rows: Any) -> dict[str, float]:
    ready = controls.preparer(stream, new.X[rows], new.X_unlabelled)
    Z, Z_test = ready.transform(new.X[rows]), ready.transform(new.X_test)
    found = {}
    for k in (10, 50):
        keep = controls.SelectKBest(controls.f_classif, k=k)
        chosen = controls.quietly(keep.fit_transform, Z, new.y[rows])
        model = controls.logistic("l2", len(np.unique(new.y[rows]))).fit(chosen, new.y[rows])
        found[f"F test, {k}"] = measured(
            stream, controls.decision(model, keep.transform(Z_test)), new
        )
    return found
