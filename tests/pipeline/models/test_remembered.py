"""The linear model from the MetaDB predicts as the reference model does that it was."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from metafs import Problem, solve
from metafs.errors import UsageError
from metafs.pipeline.fitting.reference import numeric_rows
from metafs.pipeline.models.remembered import remembered_model, share_kept
from metafs.stats.linear import fit_linear
from metafs_metadb import MetaDB


def remembered(problem, db):
    (found,) = solve(problem, db=db, selector="infogain", folds=2)
    assert found.status == "solved", found.error
    metadb = MetaDB(db)
    stored = metadb.linear_model(metadb.find_problem(problem.name)["problem_id"])
    assert metadb.check() == []
    return stored, remembered_model(stored, problem=problem.name, target="y", space="default")


def reference(problem):
    problem = problem.by_name()
    X, _ = numeric_rows(problem)
    return X, fit_linear(X, problem.y, classes=problem.is_classification)


def mixed(n=150):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "seen": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 3600, n), "s"),
            "sex": rng.choice(["f", "m"], n),
            "colour": rng.choice(["r", "g", "b"], n),
            "tiny": rng.normal(size=n) * 1e-6,
        }
    )
    frame.loc[3, "size"], frame.loc[4, "sex"] = np.nan, None
    return frame


TARGETS = {
    "two": lambda X: np.where(X["size"].fillna(0) > 0, "yes", "no"),
    "three": lambda X: np.where(X["size"] > 0.5, "u", np.where(X["sex"] == "f", "v", "w")),
    "number": lambda X: X["size"].fillna(0) * 3 + (X["sex"] == "f") + 100,
}


@pytest.mark.parametrize("target", TARGETS)
def test_a_table(target, db):
    frame = mixed()
    problem = Problem.of(frame, TARGETS[target](frame), name="p")
    stored, model = remembered(problem, db)
    X, wanted = reference(problem)
    assert share_kept(stored) == 1.0
    if problem.is_classification:
        labels = np.asarray(problem.classes)[wanted.predict(X)]
        np.testing.assert_array_equal(model.predict(frame[frame.columns[::-1]]), labels)
        np.testing.assert_allclose(
            model.predict_proba(frame), wanted.predict_proba(X), rtol=0, atol=1e-5
        )
    else:
        np.testing.assert_allclose(model.predict(frame), wanted.predict(X), rtol=1e-6)
        assert not hasattr(model.estimator, "predict_proba")


def words(n_words, n=80, extra=0):
    rng = np.random.default_rng(1)
    counts = rng.poisson(0.1, size=(n, n_words)).astype(float)
    y = (counts[:, :10].sum(axis=1) > 0.9).astype(int)
    X = np.hstack([counts, rng.normal(size=(n, extra))])
    names = [f"w{j}" for j in range(n_words)] + [f"number{j}" for j in range(extra)]
    return X, y, names


@pytest.mark.parametrize("extra", [0, 3])
@pytest.mark.parametrize("sparse", [False, True])
def test_words_and_words_beside_numbers(extra, sparse, db):
    X, y, names = words(300, extra=extra)
    given = csr_array(X) if sparse else X
    problem = Problem.of(given, y, feature_names=names, name="p")
    stored, model = remembered(problem, db)
    assert stored.preparation == ("mixed" if extra else "words")
    rows, wanted = reference(problem)
    np.testing.assert_allclose(
        model.predict_proba(pd.DataFrame(X, columns=names)),
        wanted.predict_proba(rows),
        rtol=0,
        atol=1e-5,
    )


def test_what_is_not_kept_is_told(db):
    X, y, names = words(1500, n=120)
    problem = Problem.of(X, y, feature_names=names, name="p")
    stored, model = remembered(problem, db)
    rows, wanted = reference(problem)
    kept = np.sort(np.abs(stored.weights[stored.weights != 0]))
    assert len(kept) == 1000
    whole = float(np.linalg.norm(wanted.coef))
    assert share_kept(stored) == pytest.approx(np.linalg.norm(kept) / whole, rel=1e-6)
    assert share_kept(stored) < 1
    labels = np.asarray(problem.classes)[wanted.predict(rows)]
    assert (model.predict(pd.DataFrame(X, columns=names)) == labels).mean() > 0.9


def test_a_model_of_an_older_metafs_is_refused(db, related):
    from dataclasses import replace

    stored, _ = remembered(related(0), db)
    with pytest.raises(UsageError, match="recorded by an older metafs"):
        remembered_model(replace(stored, intercepts=None), problem="p", target="y", space=None)
