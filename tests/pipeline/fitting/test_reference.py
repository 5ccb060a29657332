"""What every solved problem leaves to memory, and what the next one gets from it."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_selection import SelectorMixin

from metafs import MetaSelector, Problem, Registry, solve
from metafs.data.row_hashes import row_hashes
from metafs.memory import MetaDB
from metafs.memory.explaining import explain
from metafs.memory.memory import Memory
from metafs.pipeline.fitting.reference import numeric_rows
from metafs.pipeline.preparing import prepare
from metafs.pipeline.settings import Settings

N = 12
NAMES = tuple(f"w{j}" for j in range(N))
BETA = np.append([2.0, -2.0, 1.5, -1.5], np.zeros(N - 4))


def shop(seed, n=80, *, labels=("no", "yes"), source=None, X=None, name=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, N)) if X is None else X
    y = X @ BETA + 0.5 * rng.normal(size=len(X)) > 0
    name = name or f"shop {seed}"
    source = source or f"{name}.csv"
    return Problem.of(
        X, np.array(labels)[y.astype(int)], name=name, source=source, feature_names=NAMES
    )


def solved(problems, db, **settings):
    settings = {
        "selector": "infogain",
        "params": {"n_features_to_select": 3},
        "folds": 2,
    } | settings
    found = list(solve(problems, db=db, **settings))
    assert [each.error for each in found] == [None] * len(found)
    return found


def prepared(problem, db, **settings):
    plan = Settings(selector="infogain", **settings).resolve(Registry())
    return prepare(problem, plan, Memory(MetaDB(db), plan.distance))


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    db = tmp_path_factory.mktemp("three") / "m.duckdb"
    solved([shop(seed) for seed in range(3)], db)
    return db


def test_what_is_kept_does_not_depend_on_the_selector(tmp_path, three):
    other = tmp_path / "climb.duckdb"
    solved([shop(0)], other, selector="climb", params={})
    by_climb, by_infogain = (MetaDB(db).references([1])[1] for db in (other, three))
    np.testing.assert_allclose(by_climb.weights[0], by_infogain.weights[0])
    for name in ("relevance", "document_frequency", "mean", "spread"):
        np.testing.assert_allclose(getattr(by_climb, name), getattr(by_infogain, name))
    place = {each: j for j, each in enumerate(MetaDB(other).feature_ids("default", NAMES).tolist())}
    best = by_climb.feature_ids[np.argsort(-by_climb.relevance)[:4]]
    assert {place[each] for each in best.tolist()} == {0, 1, 2, 3}
    signs = {
        place[each]: np.sign(weight)
        for each, weight in zip(by_climb.weight_ids[0].tolist(), by_climb.weights[0], strict=True)
    }
    assert by_climb.outputs == ("yes",) and [signs[j] for j in range(4)] == [1, -1, 1, -1]
    assert MetaDB(three).check() == []


def test_memory_tells_directions_scales_relevance_and_experience(three):
    prior = prepared(shop(7, n=10), three).prior
    assert prior.weights.directions.weights.shape == (3, N)
    assert set(prior.weights.directions.problems) == {"shop 0", "shop 1", "shop 2"}
    np.testing.assert_allclose(prior.weights.scales.n_rows, 240)
    assert abs(prior.weights.scales.spread - 1).max() < 0.2
    assert prior.relevance[:4].min() > prior.relevance[4:].max()
    cut = prior.columns(np.array([5, 0]))
    np.testing.assert_array_equal(cut.relevance, prior.relevance[[5, 0]])
    np.testing.assert_array_equal(
        cut.weights.directions.weights, prior.weights.directions.weights[:, [5, 0]]
    )


def test_the_worth_of_memory_counts_by_how_much_it_knew(tmp_path, three):
    db = tmp_path / "m.duckdb"
    db.write_bytes(three.read_bytes())
    assert prepared(shop(7, n=10), three).prior.weights.experience is None
    solved([shop(seed) for seed in range(3, 6)], db)
    experience = prepared(shop(7, n=10), db).prior.weights.experience
    near = prepared(shop(7, n=10), db).history.problem_ids.tolist()
    affinity = dict(zip(near, 1 - experience_distances(db) ** 2, strict=True))
    expected = {affinity[id_] * (id_ - 1) / 6 for id_ in (4, 5, 6)}
    np.testing.assert_allclose(sorted(experience.weights), sorted(expected))


def experience_distances(db):
    return prepared(shop(7, n=10), db).history.weights.directions.distances


def test_the_worth_of_memory_is_measured_where_problems_share_rows(tmp_path):
    rng = np.random.default_rng(0)
    pool = rng.normal(size=(400, N))
    problems = [shop(k, X=pool[rng.permutation(400)[:200]]) for k in range(5)]
    db = tmp_path / "m.duckdb"
    solved(problems[:4], db)
    task = prepared(problems[4], db)
    assert task.fold_history is None and len(task.sharing) == 4
    told, seen = (each.weights.directions.weights for each in (task.apart_history, task.history))
    assert told.shape == seen.shape and not np.allclose(told, seen)
    solved(problems[4:], db)
    models = MetaDB(db).references([1, 2, 5])
    assert not models[1].transfers and models[2].transfers and models[5].transfers


def test_problems_of_the_same_columns_are_asked_though_none_is_near(tmp_path):
    db = tmp_path / "m.duckdb"
    solved([shop(seed) for seed in range(2)], db)
    X = np.vstack([np.full(N, 40.0), np.full(N, -40.0)]) + np.random.default_rng(0).normal(
        size=(2, N)
    )
    far = Problem.of(X, ["no", "yes"], name="far", source="far.csv", feature_names=NAMES)
    task = prepared(far, db)
    assert task.neighbours == () and len(task.history.weights.directions) == 2
    other = Problem.of(X, ["no", "yes"], name="far", feature_names=[f"v{j}" for j in range(N)])
    assert prepared(other, db).history is None


def documents(seed, n=80, n_words=150):
    """Return a problem of which words say most, each as often as this problem pleases."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.5
    share = rng.uniform(0.02, 0.2, n_words)
    told = np.where(np.arange(n_words) < 30, 3.0, 1.0)
    X = rng.random((n, n_words)) < np.where(y[:, None], share * told, share)
    return Problem.of(
        X.astype(float),
        np.where(y, "yes", "no"),
        name=f"letters {seed}",
        source=f"letters {seed}.csv",
        feature_names=[f"w{j}" for j in range(n_words)],
    )


def test_what_carriers_supplied_of_a_word_is_memorys_part_of_its_weight(tmp_path):
    db = tmp_path / "m.duckdb"
    solved([documents(seed) for seed in range(4)], db)
    memory = MetaDB(db)
    explained = explain(memory, memory.find_problem("letters 3"))
    assert explained.belief.strength > 0
    told = [each for each in explained.features if each.carriers]
    assert len(told) > 5
    for each in told:
        assert sum(part.part for part in each.carriers) == pytest.approx(each.from_memory)


def test_a_new_column_has_no_weight(three):
    known = shop(7, n=10)
    more = Problem.of(
        np.column_stack([np.arange(10.0), known.X]), known.y, feature_names=("new", *NAMES)
    )
    directions = prepared(more, three).prior.weights.directions.weights
    assert not directions[:, 0].any() and directions[:, 1].all()


@pytest.mark.parametrize("labels", [("yes", "no"), ("0", "1"), ("b", "a")])
def test_recall_is_the_same_whatever_classes_are_called(three, labels):
    as_was, renamed = (
        prepared(shop(7, n=30, labels=each), three) for each in (("no", "yes"), labels)
    )
    assert renamed.neighbours == as_was.neighbours
    np.testing.assert_allclose(renamed.prior.relevance, as_was.prior.relevance)


def test_inside_folds_neither_the_same_source_nor_shared_rows_are_heard(three):
    rows = shop(0).X
    new = shop(7, X=np.vstack([rows[:40], shop(8).X[:40]]), source="shop 1.csv")
    ready = prepared(new, three)
    assert set(ready.history.weights.directions.problems) == {"shop 0", "shop 1", "shop 2"}
    assert set(ready.fold_history.weights.directions.problems) == {"shop 2"}
    assert set(ready.fold_prior.weights.directions.problems) == {"shop 2"}
    assert [source.problem for source in ready.fold_prior.sources] == ["shop 2"]
    assert len(ready.prior.sources) == 3


def test_the_strength_of_memory_is_reported_and_explained(tmp_path, three):
    db = tmp_path / "m.duckdb"
    db.write_bytes(three.read_bytes())
    (few,) = solved([shop(9, n=14)], db)
    results = few.as_json()["memory"]
    assert results["strength"] > 0 and results["gain"] > 0 and "strength" in few.belief
    memory = MetaDB(db)
    explained = explain(memory, memory.find_problem("shop 9"), "w0")
    assert (
        explained.belief.strength == results["strength"] and explained.belief.reason == few.belief
    )
    (w0,) = explained.features
    assert w0.weight > 0 and w0.from_memory > 0
    assert {each.problem for each in w0.carriers} == {"shop 0", "shop 1", "shop 2"}
    assert sum(each.part for each in w0.carriers) == pytest.approx(w0.from_memory, rel=1e-3)


def test_without_memory_nothing_is_said_of_belief(tmp_path):
    (first,) = solved([shop(0)], tmp_path / "m.duckdb")
    assert first.memory is None and first.belief is None
    (none,) = solved([shop(0)], None)
    assert none.as_json()["memory"] is None


class Listener(ClassifierMixin, BaseEstimator):
    """A learner that fails unless it is told all there is to tell."""

    def fit(self, X, y, *, prior=None, X_unlabelled=None):
        if X_unlabelled is None or X_unlabelled.shape[1] != X.shape[1]:
            raise ValueError("no unlabelled rows")
        if prior.weights.directions.weights.shape[1] != X.shape[1] or len(prior) != X.shape[1]:
            raise ValueError("a prior for other columns")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


class Unlabelled(SelectorMixin, BaseEstimator):
    """Keep the columns that vary among unlabelled rows."""

    def fit(self, X, y, *, X_unlabelled=None):
        self.n_features_in_ = X.shape[1]
        self.support_ = np.ptp(X_unlabelled, axis=0) > 0
        return self

    def _get_support_mask(self):
        return self.support_


def half_labelled():
    X = shop(7).X.copy()
    X[40:, 5:] = 1.0
    y = np.where(np.arange(80) < 40, (X[:, 0] > 0).astype(float), np.nan)
    return Problem.of(X, y, feature_names=NAMES, name="half", source="half.csv")


def test_rows_without_target_reach_selector_and_learner(tmp_path, three):
    problem = half_labelled()
    assert problem.n_samples == 40 and problem.X_unlabelled.shape == (40, N)
    assert problem.columns(["w3"]).X_unlabelled.shape == (40, 1)
    settings = {"selector": Unlabelled(), "learner": Listener(), "params": {}}
    db = tmp_path / "m.duckdb"
    db.write_bytes(three.read_bytes())
    (found,) = solved([problem], db, **settings)
    assert sorted(found.features) == list(NAMES[:5]) and found.score == 0.5
    plan = Settings(selector="infogain")
    without = Problem.of(problem.X, problem.y, feature_names=NAMES)
    assert problem.fingerprint == without.fingerprint
    assert plan.digest_for(problem) != plan.digest_for(without) == plan.digest()


def test_the_estimator_takes_rows_without_target():
    problem = half_labelled()
    selector = MetaSelector(Unlabelled()).fit(
        problem.X, problem.y, X_unlabelled=problem.X_unlabelled
    )
    assert selector.get_support().tolist() == [True] * 5 + [False] * (N - 5)


def test_the_estimator_takes_missing_targets_as_rows_without_target():
    problem = half_labelled()
    X = np.vstack([problem.X, problem.X_unlabelled[:30]])
    y = np.concatenate([problem.y, np.full(30, np.nan)])
    selector = MetaSelector(Unlabelled()).fit(X, y, X_unlabelled=problem.X_unlabelled[30:])
    assert selector.get_support().tolist() == [True] * 5 + [False] * (N - 5)


def test_the_estimator_leaves_weights(tmp_path):
    path = tmp_path / "m.duckdb"
    shops = [shop(k) for k in range(3)]
    for each in shops:
        found = MetaSelector("infogain", db=path, name=each.name, space="default")
        found.fit(each.X, each.y)
    assert found.prior_.weights.directions.problems == ("shop 0", "shop 1")


def test_a_category_that_only_unlabelled_rows_have_is_missing_there():
    import pandas as pd

    frame = pd.DataFrame({"a": ["x", "y", "z", "y"], "b": [1.0, 2.0, np.inf, 4.0]})
    problem = Problem.of(frame, np.array([0, 1, np.nan, np.nan]))
    assert problem.categories[0] == ("x", "y")
    np.testing.assert_array_equal(problem.X_unlabelled, [[np.nan, np.nan], [1.0, 4.0]])
    labelled, more = numeric_rows(problem)
    assert np.isfinite(labelled).all() and np.isfinite(more).all()


def test_an_upgraded_memory_is_recalled_as_it_was_described(tmp_path):
    path = tmp_path / "old.duckdb"
    asset = Path(__file__).parents[2] / "metadb" / "files" / "assets" / "schema_0004.duckdb.gz"
    path.write_bytes(gzip.decompress(asset.read_bytes()))
    MetaDB(path).migrate()
    rng = np.random.default_rng(5)
    X = (rng.random((60, 8)) < 0.4).astype(float)
    names = [f"w{j}" for j in range(8)]
    y = (X[:, 0] + X[:, 3] > 0).astype(int)
    new = Problem.of(X, y, feature_names=names, name="new", source="new.csv")
    (found,) = solved([new], path)
    assert {name for name, _ in found.neighbours} == {f"old {i}" for i in range(4)}
    assert found.memory is None
    again = Problem.of(X, 1 - y, feature_names=names, name="again", source="again.csv")
    (after,) = solved([again], path)
    assert after.neighbours[0] == ("new", 0.0)
    assert after.memory is not None


def test_a_sketch_of_rows_is_recorded(three):
    known = MetaDB(three).acquainted("default", "", (), row_hashes(shop(1))[:3])
    (problem_id,) = known.sharing
    assert problem_id == 2
