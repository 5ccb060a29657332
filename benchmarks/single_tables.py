"""Single tables and an empty memory: the default of metafs beside what people would use.

    python benchmarks/single_tables.py FOLDER [--rows 300] [--seeds 0 1 2] [--part open|kept]
        [--table NAME ...] [--arms NAME ...] [--out FILE] [--again ARM ...]

Each table is divided, once a seed, into at most `--rows` training rows (at most 70 %) and at most
2,000 test rows, which no arm sees. Every arm tunes itself on the training rows for balanced
accuracy or R2, and where it can it counts every class alike: L2 and L1 linear models by
cross-validation, SelectKBest and mRMR with k tuned before a linear model, RFECV with a linear
model, Boruta before a forest, forest and boosting as scikit-learn has them, FLAML with the seconds
that metafs took, 3 at least. The shipped portfolio leaves out the table and those like it. Boruta
and FLAML take part if `boruta` and `flaml[automl]` are installed. Printed are balanced accuracy or
R2, features and seconds of the processor.

`--part kept` are the tables that were kept back while the default was worked on: every third.
"""

import argparse
import json
import time
import warnings
from pathlib import Path
from unittest.mock import patch

import numpy as np
from scipy.sparse import issparse
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_selection import RFECV, SelectKBest, SelectorMixin, f_classif, f_regression
from sklearn.linear_model import LassoCV, LogisticRegression, Ridge, RidgeCV
from sklearn.metrics import balanced_accuracy_score, r2_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tables import tables

from metafs import Problem
from metafs.data.matrix import with_short_indices
from metafs.errors import NoScore
from metafs.pipeline.choice.choosing import choose, default_choice
from metafs.pipeline.choice.contest import contest_of
from metafs.pipeline.choice.portfolio import shipped, shipped_tables
from metafs.pipeline.models.model import fitted_model
from metafs.plugin.registry import Registry
from metafs.stats.scorers import default_scoring

try:
    from boruta import BorutaPy
except ImportError:
    BorutaPy = None
try:
    from flaml import AutoML
except ImportError:
    AutoML = None

REGISTRY = Registry()
ARMS = (
    "metafs", "L2", "L1", "k best", "mRMR", "RFECV", "Boruta", "forest", "boosting", "FLAML",
)  # fmt: skip
SLOW = ("L1", "RFECV", "boosting")
"""Arms that are left out where they fit many classes to many columns."""


def family(name):
    """Return the word that tables of one origin have in common."""
    return name.split()[0].removesuffix("_disc")


def metafs_default(name, X, y, Z, seed):
    """Return predictions, how many features were kept, and the pipeline."""
    task = "classes" if y.dtype.kind == "i" else "numbers"
    problem = Problem.of(X, y, name=name, task=task, leave_out="nothing")
    contest = contest_of(REGISTRY, selector=None, learner=None)
    try:
        found = choose(
            problem,
            contest.candidates(problem),
            selectors=contest.selectors,
            learners=contest.learners,
            scoring=default_scoring(problem),
            past=shipped(problem, without=like(name)),
            seed=seed,
        )
    except NoScore as reason:
        scoring = default_scoring(problem)
        found = default_choice(problem, contest, str(reason), scoring=scoring)
    prediction = fitted_model(found).predict(Z)
    if problem.classes is not None:
        prediction = prediction.astype(int)
    return prediction, len(found.columns), str(found.candidate)


def like(name):
    """Return the tables of the portfolio that are of the same origin."""
    return [each for each in shipped_tables() if family(each) == family(name)]


class MRMR(SelectorMixin, BaseEstimator):
    """Minimum redundancy, maximum relevance: F of a column over its mean correlation to the chosen.

    C. Ding and H. Peng, "Minimum redundancy feature selection from microarray gene expression
    data", Journal of Bioinformatics and Computational Biology 3, 2005 (the form FCQ).
    """

    def __init__(self, k=16, score_func=f_classif):
        self.k = k
        self.score_func = score_func

    def fit(self, X, y):
        X = X.toarray() if issparse(X) else np.asarray(X)
        F = np.nan_to_num(self.score_func(X, y)[0], posinf=0.0)
        Z = X - X.mean(axis=0)
        Z /= np.maximum(np.linalg.norm(Z, axis=0), 1e-12)
        chosen = [int(F.argmax())]
        redundancy = np.zeros(len(F))
        while len(chosen) < min(self.k, len(F)):
            redundancy += np.abs(Z[:, chosen[-1]] @ Z)
            score = F / np.maximum(redundancy / len(chosen), 1e-3)
            score[chosen] = -np.inf
            chosen.append(int(score.argmax()))
        self.mask_ = np.isin(np.arange(len(F)), chosen)
        self.n_features_in_ = len(F)
        return self

    def _get_support_mask(self):
        return self.mask_


class Relevant(SelectorMixin, BaseEstimator):
    """Boruta: columns that matter to a forest more than shuffled ones; all if there are none."""

    def __init__(self, forest, seed):
        self.forest = forest
        self.seed = seed

    def fit(self, X, y):
        X = X.toarray() if issparse(X) else np.asarray(X)
        found = BorutaPy(self.forest, n_estimators=100, max_iter=50, random_state=self.seed)
        found.fit(X, y)
        self.mask_ = found.support_ if found.support_.any() else np.ones(X.shape[1], dtype=bool)
        self.n_features_in_ = X.shape[1]
        return self

    def _get_support_mask(self):
        return self.mask_


def scaled(model):
    return make_pipeline(StandardScaler(with_mean=False), model)


def arms(classes, n_features, seed):
    """Return the models that tune themselves."""
    C = np.logspace(-4, 3, 8)
    ks = sorted({k for k in (1, 4, 16, 64, 256, 1024) if k < n_features} | {n_features})
    few = [k for k in ks if k <= 64]
    if classes:
        counted = {"class_weight": "balanced"}
        tuned = {"cv": 5, "scoring": "balanced_accuracy"}
        linear = LogisticRegression(max_iter=500, **counted)
        l1 = LogisticRegression(l1_ratio=1.0, solver="liblinear", **counted)
        ranked, forest, boosting = f_classif, RandomForestClassifier, HistGradientBoostingClassifier
        yield "L2", GridSearchCV(scaled(linear), {"logisticregression__C": C}, **tuned)
        yield (
            "L1",
            GridSearchCV(
                scaled(OneVsRestClassifier(l1)),
                {"onevsrestclassifier__estimator__C": C[2:7]},
                **tuned,
            ),
        )
        eliminated = RFECV(LogisticRegression(max_iter=200, **counted), step=0.2, **tuned)
    else:
        counted, tuned = {}, {"cv": 5}
        linear, ranked = Ridge(), f_regression
        forest, boosting = RandomForestRegressor, HistGradientBoostingRegressor
        yield "L2", scaled(RidgeCV(np.logspace(-3, 4, 15)))
        yield "L1", scaled(LassoCV())
        eliminated = RFECV(Ridge(), step=0.2, **tuned)
    kbest = make_pipeline(SelectKBest(ranked), StandardScaler(with_mean=False), linear)
    mrmr = make_pipeline(MRMR(score_func=ranked), StandardScaler(with_mean=False), linear)
    trees = forest(300, random_state=seed, **counted)
    yield "k best", GridSearchCV(kbest, {"selectkbest__k": ks}, **tuned)
    yield "mRMR", GridSearchCV(mrmr, {"mrmr__k": few}, **tuned)
    yield "RFECV", scaled(eliminated)
    yield "forest", trees
    yield "boosting", boosting(random_state=seed, **counted)
    if BorutaPy is not None:
        shallow = forest(max_depth=5, random_state=seed, **counted)
        yield "Boruta", make_pipeline(Relevant(shallow, seed), clone(trees))


def n_kept(model, n_features):
    best = getattr(model, "best_estimator_", model)
    if not hasattr(best, "steps"):
        return n_features
    last = best[-1]
    if isinstance(best[0], SelectorMixin):
        return int(best[0].get_support().sum())
    if hasattr(last, "support_") and hasattr(last, "estimator_"):
        return int(last.support_.sum())
    if hasattr(last, "estimators_"):
        return int(np.any([each.coef_[0] != 0 for each in last.estimators_], axis=0).sum())
    coef = np.atleast_2d(getattr(last, "coef_", np.ones((1, n_features))))
    return int((coef != 0).any(axis=0).sum())


def divided(X, y, n_rows, seed):
    """Return training and test rows."""
    classes = y.dtype.kind == "i"
    rare = classes and np.bincount(y).min() < 2
    train, test = train_test_split(
        np.arange(len(y)),
        train_size=min(n_rows, int(0.7 * len(y))),
        random_state=seed,
        stratify=y if classes and not rare else None,
    )
    return train, test[:2000]


def missed(X, y, estimator, labels, X_train, y_train, *_, **__):
    """Return what FLAML makes small: the share of balanced accuracy that is missed."""
    loss = 1 - balanced_accuracy_score(y, estimator.predict(X))
    return loss, {"loss": loss}


def flaml(X, y, Z, seed, seconds):
    """Return predictions, the number of features, and the learner."""
    classes = y.dtype.kind == "i"
    automl = AutoML()
    with patch("time.time", time.process_time):  # seconds of the processor, as for all arms
        automl.fit(
            X, y, task="classification" if classes else "regression",
            metric=missed if classes else "r2", time_budget=seconds, verbose=0, seed=seed, n_jobs=1,
            estimator_list=["rf", "extra_tree", "lgbm", *(["lrl1"] if classes else [])],
        )  # fmt: skip
    return automl.predict(Z), X.shape[1], automl.best_estimator


def run(arm, name, X, y, Z, seed, known):
    """Return predictions, how many features were kept, and a remark; None if it takes too long."""
    classes = y.dtype.kind == "i"
    if arm == "metafs":
        return metafs_default(name, X, y, Z, seed)
    if arm == "FLAML":
        own = [each["seconds"] for each in known if each["arm"] == "metafs"]
        return None if AutoML is None else flaml(X, y, Z, seed, max([3.0, *own]))
    if arm in SLOW and classes and len(np.unique(y)) * X.shape[1] > 16_000:
        return None
    if arm == "boosting" and issparse(X):
        X, Z = X.toarray(), Z.toarray()
    model = dict(arms(classes, X.shape[1], seed)).get(arm)
    if model is None:
        return None
    prediction = model.fit(X, y).predict(Z)
    return prediction, n_kept(model, X.shape[1]), ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--seeds", type=int, nargs="*", default=[0])
    parser.add_argument("--table", nargs="*")
    parser.add_argument("--part", choices=["open", "kept", "all"], default="all")
    parser.add_argument("--arms", nargs="*", default=ARMS)
    parser.add_argument("--again", nargs="*", default=[], help="arms whose results are replaced")
    parser.add_argument("--out", type=Path, help="results, one a line; those it holds are kept")
    asked = parser.parse_args()
    found = []
    if asked.out is not None and asked.out.exists():
        found = [json.loads(line) for line in asked.out.read_text().splitlines()]
    if asked.again:
        found = [each for each in found if each["arm"] not in asked.again]
        asked.out.write_text("".join(json.dumps(each) + "\n" for each in found))
    for number, (name, X, y) in enumerate(tables(asked.folder)):
        if asked.part != "all" and (number % 3 == 2) != (asked.part == "kept"):
            continue
        for seed in asked.seeds if not asked.table or name in asked.table else ():
            X = with_short_indices(X)
            train, test = divided(X, y, asked.rows, seed)
            score = balanced_accuracy_score if y.dtype.kind == "i" else r2_score
            known = [each for each in found if (each["table"], each["seed"]) == (name, seed)]
            for arm in asked.arms:
                if arm in {each["arm"] for each in known}:
                    continue
                started = time.process_time()
                result = run(arm, name, X[train], y[train], X[test], seed, known)
                if result is None:
                    continue
                prediction, kept, remark = result
                row = {
                    "table": name, "seed": seed, "arm": arm,
                    "score": float(score(y[test], prediction)), "share": kept / X.shape[1],
                    "seconds": time.process_time() - started, "remark": remark,
                }  # fmt: skip
                known.append(row)
                found.append(row)
                if asked.out is not None:
                    with asked.out.open("a") as out:
                        print(json.dumps(row), file=out)
            print(
                f"{name} {seed}: "
                + "; ".join(
                    f"{each['arm']} {100 * each['score']:.1f} {each['remark']}".rstrip()
                    for each in known
                ),
                flush=True,
            )
    print_means(found)


def print_means(found):
    """Print the mean rank of each arm, its mean score, and that of metafs where the arm ran."""
    by_run = {}
    for each in found:
        by_run.setdefault((each["table"], each["seed"]), {})[each["arm"]] = each
    names = sorted({each["arm"] for each in found})
    ranks = {arm: [] for arm in names}
    for each in by_run.values():
        order = rankdata([-round(each[arm]["score"], 6) for arm in each])
        for arm, rank in zip(each, order, strict=True):
            ranks[arm].append(rank)
    print(
        f"\n{len({table for table, _ in by_run})} tables, {len(by_run)} divisions\n\n"
        "| arm | divisions | mean rank | mean score | metafs there | share of features | s |\n"
        "|---|--:|--:|--:|--:|--:|--:|"
    )
    for arm in sorted(names, key=lambda arm: np.mean(ranks[arm])):
        own = [each for each in by_run.values() if arm in each]
        ours = [100 * each["metafs"]["score"] for each in own if "metafs" in each]
        score, share, took = np.mean(
            [[each[arm][what] for what in ("score", "share", "seconds")] for each in own], axis=0
        )
        print(
            f"| {arm} | {len(own)} | {np.mean(ranks[arm]):.2f} | {100 * score:.2f} "
            f"| {np.mean(ours or [np.nan]):.2f} | {share:.2f} | {took:.1f} |"
        )


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    main()
