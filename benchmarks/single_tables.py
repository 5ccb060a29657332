"""Single tables and an empty memory: the default of metafs beside what people would use.

    python benchmarks/single_tables.py FOLDER [--rows 1000] [--seed 0] [--table NAME ...]

Each table is divided once into at most `--rows` training rows (at most 70 %) and at most 2,000 test
rows, which no arm sees. Every arm tunes itself on the training rows: L2 and L1 linear models by
cross-validation, SelectKBest with k tuned, RFECV with a linear machine, forest and boosting as
scikit-learn has them, FLAML (if installed) with the seconds that metafs took, 10 at least. The
shipped portfolio leaves the table out. Printed are balanced accuracy or R2, features and seconds.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.sparse import issparse
from scipy.stats import rankdata
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_selection import RFECV, SelectKBest, f_classif, f_regression
from sklearn.linear_model import LassoCV, LogisticRegression, Ridge, RidgeCV
from sklearn.metrics import balanced_accuracy_score, r2_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tables import tables

from metafs import Problem
from metafs.pipeline.choice.choosing import choose
from metafs.pipeline.choice.contest import contest_of
from metafs.pipeline.choice.portfolio import shipped
from metafs.pipeline.model import fitted_model
from metafs.plugin.registry import Registry
from metafs.stats.scorers import default_scoring

try:
    from flaml import AutoML
except ImportError:
    AutoML = None

REGISTRY = Registry()


def metafs_default(name, X, y, Z, seed):
    """Return predictions, how many features were kept, and the pipeline."""
    task = "classes" if y.dtype.kind == "i" else "numbers"
    problem = Problem.of(X, y, name=name, task=task, leave_out="nothing")
    contest = contest_of(REGISTRY, selector=None, learner=None)
    found = choose(
        problem,
        contest.candidates(problem),
        selectors=contest.selectors,
        learners=contest.learners,
        scoring=default_scoring(problem),
        past=shipped(problem, without=[name]),
        seed=seed,
    )
    prediction = fitted_model(found).predict(Z)
    if problem.classes is not None:
        prediction = prediction.astype(int)
    return prediction, len(found.columns), str(found.candidate)


def scaled(model):
    return make_pipeline(StandardScaler(with_mean=False), model)


def arms(classes, n_features, seed):
    """Return the models that tune themselves."""
    cv, C = 5, np.logspace(-4, 3, 8)
    ks = sorted({k for k in (1, 4, 16, 64, 256, 1024) if k < n_features} | {n_features})
    if classes:
        linear = LogisticRegression(max_iter=500)
        l1 = OneVsRestClassifier(LogisticRegression(l1_ratio=1.0, solver="liblinear"))
        yield "L2", GridSearchCV(scaled(linear), {"logisticregression__C": C}, cv=cv)
        yield "L1", GridSearchCV(scaled(l1), {"onevsrestclassifier__estimator__C": C[2:7]}, cv=cv)
        kbest = make_pipeline(SelectKBest(f_classif), StandardScaler(with_mean=False), linear)
        yield "k best", GridSearchCV(kbest, {"selectkbest__k": ks}, cv=cv)
        yield (
            "RFECV",
            make_pipeline(
                StandardScaler(with_mean=False),
                RFECV(LogisticRegression(max_iter=200), step=0.2, cv=cv),
            ),
        )
        yield "forest", RandomForestClassifier(300, random_state=seed)
        yield "boosting", HistGradientBoostingClassifier(random_state=seed)
    else:
        yield "L2", scaled(RidgeCV(np.logspace(-3, 4, 15)))
        yield "L1", scaled(LassoCV())
        kbest = make_pipeline(SelectKBest(f_regression), StandardScaler(), Ridge())
        yield "k best", GridSearchCV(kbest, {"selectkbest__k": ks}, cv=cv)
        yield "RFECV", make_pipeline(StandardScaler(), RFECV(Ridge(), step=0.2, cv=cv))
        yield "forest", RandomForestRegressor(300, random_state=seed)
        yield "boosting", HistGradientBoostingRegressor(random_state=seed)


def n_kept(model, n_features):
    best = getattr(model, "best_estimator_", model)
    if not hasattr(best, "steps"):
        return n_features
    last = best[-1]
    if "selectkbest" in best.named_steps:
        return int(best["selectkbest"].get_support().sum())
    if hasattr(last, "support_") and hasattr(last, "estimator_"):
        return int(last.support_.sum())
    if hasattr(last, "estimators_"):
        return int(np.any([each.coef_[0] != 0 for each in last.estimators_], axis=0).sum())
    coef = np.atleast_2d(getattr(last, "coef_", np.ones((1, n_features))))
    return int((coef != 0).any(axis=0).sum())


def compared(name, X, y, n_rows, seed):
    """Return (arm, score, features, seconds, remark) of every arm on one table."""
    classes = y.dtype.kind == "i"
    n_train = min(n_rows, int(0.7 * len(y)))
    rare = classes and np.bincount(y).min() < 2
    train, test = train_test_split(
        np.arange(len(y)),
        train_size=n_train,
        random_state=seed,
        stratify=y if classes and not rare else None,
    )
    test = test[:2000]
    X_train, X_test = X[train], X[test]
    score = balanced_accuracy_score if classes else r2_score
    started = time.perf_counter()
    prediction, kept, remark = metafs_default(name, X_train, y[train], X_test, seed)
    took = time.perf_counter() - started
    rows = [("metafs", score(y[test], prediction), kept, took, remark)]
    n_classes = len(np.unique(y))
    for arm, model in arms(classes, X.shape[1], seed):
        if arm in ("boosting", "RFECV") and classes and n_classes * X.shape[1] > 10_000:
            continue
        dense = arm in ("boosting",) and issparse(X)
        A, B = (X_train.toarray(), X_test.toarray()) if dense else (X_train, X_test)
        started = time.perf_counter()
        prediction = model.fit(A, y[train]).predict(B)
        rows.append(
            (
                arm,
                score(y[test], prediction),
                n_kept(model, X.shape[1]),
                time.perf_counter() - started,
                "",
            )
        )
    if AutoML is not None:
        started = time.perf_counter()
        automl = AutoML()
        automl.fit(
            X_train, y[train], task="classification" if classes else "regression",
            time_budget=max(10, took), verbose=0, seed=seed, n_jobs=1,
            estimator_list=["rf", "extra_tree", "lgbm", *(["lrl1"] if classes else [])],
        )  # fmt: skip
        rows.append(
            (
                "FLAML",
                score(y[test], automl.predict(X_test)),
                X.shape[1],
                time.perf_counter() - started,
                automl.best_estimator,
            )
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--table", nargs="*")
    asked = parser.parse_args()
    found = {}
    for name, X, y in tables(asked.folder):
        if asked.table and name not in asked.table:
            continue
        rows = compared(name, X, y, asked.rows, asked.seed)
        found[name] = {arm: (score, kept / X.shape[1], took) for arm, score, kept, took, _ in rows}
        print(
            f"{name} {X.shape}: "
            + "; ".join(
                f"{arm} {100 * score:.1f} ({kept}, {took:.1f} s{', ' if remark else ''}{remark})"
                for arm, score, kept, took, remark in rows
            ),
            flush=True,
        )
    names = sorted({arm for each in found.values() for arm in each})
    print(
        "\n| arm | tables | mean rank | mean score | share of features | s |\n"
        "|---|--:|--:|--:|--:|--:|"
    )
    ranks = {arm: [] for arm in names}
    for each in found.values():
        order = rankdata([-each[arm][0] for arm in each])
        for arm, rank in zip(each, order, strict=True):
            ranks[arm].append(rank)
    for arm in sorted(names, key=lambda arm: np.mean(ranks[arm])):
        own = [each[arm] for each in found.values() if arm in each]
        mean, share, took = np.mean(own, axis=0)
        print(
            f"| {arm} | {len(own)} | {np.mean(ranks[arm]):.2f} | {100 * mean:.2f} | {share:.2f} "
            f"| {took:.1f} |"
        )


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    main()
