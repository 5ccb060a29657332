"""Features that no earlier problem had are expected to do as features of their kind did."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor

from metafs import MetaSelector, Problem, Registry, solve
from metafs.data.readers.metafeatures import FeatureTable
from metafs.errors import MetafsError, UsageError
from metafs.memory.prediction import predict_features
from metafs.transfer.meta_regression import FEWEST, MOST, MetaRegression, meta_regression
from metafs_metadb import FeatureExperience, MetaDB

USEFUL = 3


def problem(number, *, n_features=20, source=None, described=True, **changes):
    """A problem whose columns nobody else has; those of kind 1, three in all, decide its class."""
    rng = np.random.default_rng(number)
    kinds = np.zeros(n_features)
    kinds[rng.choice(n_features, USEFUL, replace=False)] = 1
    X = rng.integers(0, 2, size=(80, n_features)).astype(float)
    y = X[:, kinds == 1].sum(axis=1) >= 2
    noise = rng.normal(size=n_features)
    values = {
        "name": f"p{number}",
        "source": source or f"p{number}.csv",
        "feature_names": [f"p{number}_{j}" for j in range(n_features)],
        "meta_features": np.column_stack([kinds, noise]) if described else None,
        "meta_feature_names": ("kind", "noise") if described else (),
    }
    return Problem.of(X, y.astype(int), **(values | changes)), kinds == 1


def experience(n_features=30, **changes):
    """What memory might hold of features whose worth is their size."""
    size = np.linspace(0, 1, n_features)
    values = {
        "names": tuple(f"f{j}" for j in range(n_features)),
        "n_problems": np.ones(n_features, dtype=int),
        "quality": size,
        "selected": size,
        "relative": size,
        "meta_feature_names": ("age", "size"),
        "meta_features": np.column_stack([np.full(n_features, np.nan), size]),
    }
    return FeatureExperience(**(values | changes))


def test_a_judgement_goes_by_the_meta_features_that_both_know():
    outcomes = experience()
    asked = np.array([[9.0, 0.25], [9.0, 0.75], [9.0, np.nan]])
    found = meta_regression(
        outcomes, outcomes.quality, asked, ("colour", "size"), LinearRegression()
    )
    np.testing.assert_allclose(found.expected, [0.25, 0.75, 0.5], atol=1e-9)
    assert found.by == ("size",)
    assert found.std is None
    assert found.n_features == 30


def test_a_feature_counts_by_the_problems_that_had_it():
    """Of two features of one kind the one that was met more often counts more."""
    quality = np.repeat([0.0, 1.0], 15)
    outcomes = experience(quality=quality, n_problems=np.repeat([9, 1], 15))
    size = np.ones((30, 1))
    outcomes = replace(outcomes, meta_feature_names=("size",), meta_features=size)
    found = meta_regression(outcomes, quality, np.ones((1, 1)), ("size",), LinearRegression())
    np.testing.assert_allclose(found.expected, [0.1])


def test_what_was_left_out_is_not_learnt_from_again(db, monkeypatch):
    """Older problems take the place of those left out, so numbers alone tell nothing."""
    monkeypatch.setattr("metafs.memory.memory.LATEST", 2)
    results = []
    monkeypatch.setattr(
        "metafs.pipeline.expecting.meta_regression",
        lambda outcomes, worth, *_: (
            results.append(worth.tolist()) or MetaRegression(np.ones(12), None, (), 1)
        ),
    )
    names = [f"f{j}" for j in range(12)]
    meta_features = np.arange(12.0)
    for number, source in enumerate(["old.csv", "mid.csv", "new.csv", "new.csv"]):
        rng = np.random.default_rng(number)
        X = rng.integers(0, 2, size=(60, 12))
        new = Problem.of(
            X,
            X[:, number],
            name=f"p{number}",
            source=source,
            feature_names=names if number < 3 else [f"g{j}" for j in range(12)],
            meta_features=meta_features,
        )
        assert next(solve([new], db=db, budget=50, folds=2, selector="climb")).status == "solved"
    with_all, elsewhere = results[-2:]
    assert len(with_all) == len(elsewhere) == 12
    assert with_all != elsewhere


def test_expectations_stay_within_0_and_1():
    outcomes = experience()
    asked = np.array([[-5.0], [5.0]])
    found = meta_regression(outcomes, outcomes.quality, asked, ("size",), LinearRegression())
    assert found.expected.tolist() == [0.0, 1.0]


def test_nothing_is_judged_from_too_few_features_or_by_other_meta_features():
    outcomes, asked = experience(FEWEST - 1), np.ones((2, 1))
    assert meta_regression(outcomes, outcomes.quality, asked, ("size",), LinearRegression()) is None
    outcomes = experience()
    assert (
        meta_regression(outcomes, outcomes.quality, asked, ("colour",), LinearRegression()) is None
    )


def test_of_very_many_features_some_are_drawn_and_always_the_same():
    outcomes, asked = experience(3 * MOST), np.array([[0.3], [0.9]])
    one, two = (
        meta_regression(outcomes, outcomes.quality, asked, ("size",), KNeighborsRegressor())
        for _ in range(2)
    )
    np.testing.assert_allclose(one.expected, [0.3, 0.9], atol=0.01)
    np.testing.assert_array_equal(one.expected, two.expected)


def test_columns_that_nobody_has_seen_are_tried_by_their_kind(db):
    """Every problem renames all columns: no neighbour can help, only properties."""
    stream = [problem(number)[0] for number in range(4)]
    assert all(
        each.status == "solved"
        for each in solve(stream, db=db, budget=100, folds=2, selector="climb")
    )
    new, useful = problem(99)
    (warm,) = solve([new], db=db, budget=100, folds=2, selector="climb")
    assert warm.neighbours == ()
    assert set(warm.transferred[:USEFUL]) == set(np.array(new.feature_names)[useful])
    rows = MetaDB(db).sql(
        """select f.name, s.expected from selection s join feature f using (feature_id)
           join run using (run_id) join problem p using (problem_id) where p.name = 'p99'"""
    )[1]
    expected = dict(rows)
    of_kind = {name: expected[name] for name in np.array(new.feature_names)[useful]}
    others = [value for name, value in expected.items() if name not in of_kind]
    assert min(of_kind.values()) > max(others)
    assert MetaDB(db).check() == []


def test_without_meta_features_nothing_is_expected_of_new_columns(db):
    for _ in solve(
        [problem(number)[0] for number in range(3)], db=db, budget=100, folds=2, selector="climb"
    ):
        pass
    plain, _ = problem(99, described=False)
    (results,) = solve([plain], db=db, budget=100, folds=2, selector="climb")
    assert results.transferred == ()


def test_inside_the_folds_problems_of_the_same_source_have_no_say(db, monkeypatch):
    asked = []
    read = MetaDB.feature_experience

    def spy(self, space, **which):
        asked.append(which["exclude_source"])
        return read(self, space, **which)

    monkeypatch.setattr(MetaDB, "feature_experience", spy)
    for number in range(2):
        new, _ = problem(number, source="one.csv")
        list(solve([new], db=db, budget=50, folds=2, selector="climb"))
    assert asked[-2:] == [None, "one.csv"]


@pytest.mark.parametrize("name", Registry().regressors)
def test_any_regressor_of_the_registry_can_judge(name):
    outcomes, asked = experience(), np.array([[0.1], [0.9]])
    found = meta_regression(
        outcomes, outcomes.quality, asked, ("size",), Registry().regressors[name]
    )
    np.testing.assert_allclose(found.expected, asked[:, 0], atol=0.1)


def test_an_unknown_regressor_is_wrong_usage(db):
    with pytest.raises(UsageError, match="no regressor named 'forrest': did you mean forest"):
        solve([problem(0)[0]], db=db, regressor="forrest", selector="climb")


def test_an_estimator_with_memory_judges_too(db):
    pd = pytest.importorskip("pandas")
    for number in range(4):
        new, _ = problem(number)
        frame = pd.DataFrame(new.X, columns=new.feature_names)
        described = pd.DataFrame(new.meta_features, columns=new.meta_feature_names)
        MetaSelector(db=db, name=new.name).fit(frame, new.y, meta_features=described)
    new, _ = problem(99)
    selector = MetaSelector(db=db, name="new", regressor="ridge", random_state=0)
    selector.fit(pd.DataFrame(new.X, columns=new.feature_names), new.y, meta_features=described)
    assert selector.prior_.predicted.tolist() == list(range(20))


class TestPrediction:
    """Ranking a table of features by what memory holds."""

    def solved(self, db, n_problems=4, **changes):
        stream = [problem(number, **changes)[0] for number in range(n_problems)]
        for _ in solve(stream, db=db, budget=100, folds=2, selector="climb"):
            pass
        return MetaDB(db)

    def table(self, names=("kind", "noise")):
        values = np.array([[0.0, 0.0], [1.0, 0.1], [np.nan, np.nan], [0.0, 2.0]])
        return FeatureTable(["dull", "useful", "unknown", "p1_0"], names, values)

    def test_features_are_ranked_by_what_their_kind_was_worth(self, db):
        metadb = self.solved(db)
        predicted = predict_features(metadb, self.table(), Registry().regressors["forest"])
        assert predicted.by == ("kind", "noise")
        found = predicted.features
        assert [each.rank for each in found] == [1, 2, 3, 4]
        assert found[0].name == "useful"
        assert found[0].expected > 0.1 > found[-1].expected
        assert all(each.uncertainty >= 0 for each in found)
        met = {each.name: each.n_problems for each in found}
        assert met == {"useful": 0, "dull": 0, "unknown": 0, "p1_0": 1}
        assert next(each.quality for each in found if each.name == "useful") is None

    def test_a_regressor_that_does_not_know_how_sure_it_is_says_nothing_of_it(self, db):
        found = predict_features(self.solved(db), self.table(), LinearRegression())
        assert {each.uncertainty for each in found.features} == {None}

    @pytest.mark.parametrize(
        ("n_problems", "changes", "names", "space", "kind", "words"),
        [
            (1, {"described": False}, ("kind", "noise"), None, MetafsError, "knows no meta-feat"),
            (
                1,
                {"n_features": 8},
                ("kind", "noise"),
                None,
                MetafsError,
                "only 8 different features",
            ),
            (2, {}, ("colour", "age"), None, MetafsError, "'colour', 'age', are others than"),
            (1, {}, ("kind", "noise"), "elsewhere", UsageError, "only in 'default'"),
        ],
    )
    def test_too_little_to_judge_by_is_a_sentence(
        self, db, n_problems, changes, names, space, kind, words
    ):
        metadb = self.solved(db, n_problems, **changes)
        with pytest.raises(kind, match=words):
            predict_features(metadb, self.table(names), LinearRegression(), space=space)

    def test_several_spaces_must_be_told_apart(self, db):
        self.solved(db, 1, space="one")
        metadb = self.solved(db, 1, space="two")
        with pytest.raises(UsageError, match="'one', 'two': choose one with --space"):
            predict_features(metadb, self.table(), LinearRegression())
        assert predict_features(metadb, self.table(), LinearRegression(), space="two")


def test_the_published_rule_expects_nothing_of_features_that_no_neighbour_had(tmp_path):
    stream = [problem(number)[0] for number in range(4)]
    for transfer, helped in (("guided", True), ("paper", False)):
        *_, last = solve(
            stream,
            db=tmp_path / f"{transfer}.duckdb",
            transfer=transfer,
            budget=60,
            selector="climb",
        )
        # The published rule counts problems that share nothing as well.
        assert len(last.neighbours) == (0 if helped else 3)
        assert all(distance == 1 for _, distance in last.neighbours)
        assert bool(last.transferred) is helped
