"""Learning: nested and non-nested scores, categories, missing values, qualities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.dummy import DummyRegressor
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression, Ridge

from metafs.data.problem import Problem
from metafs.errors import NoScore, ProblemError, UsageError
from metafs.pipeline.fitting.scoring import Scores, learn, qualities, require_fitting_learner
from metafs.pipeline.preparing import prepare
from metafs.pipeline.settings import Settings
from metafs.pipeline.steps import work
from metafs.plugin.registry import Registry
from metafs.stats.scorers import default_scoring, require_fitting_scoring, scorer_named
from metafs_climb import MIConfidence

NOISE = np.random.default_rng(0)


def noise_problem():
    """Many features that have nothing to do with the class."""
    return Problem.of(NOISE.normal(size=(60, 2000)), [0, 1] * 30, space="noise")


def all_of(problem):
    return np.ones(problem.n_features, dtype=bool)


def test_on_noise_the_non_nested_score_is_too_high_and_the_nested_one_is_not():
    problem, selector = noise_problem(), SelectKBest(k=10)
    selected = selector.fit(problem.X, problem.y).get_support()
    scores = learn(
        problem, selected, selector, LogisticRegression(), scoring="balanced_accuracy", seed=0
    )
    assert scores.non_nested > 0.8
    assert scores.nested < 0.65
    assert scores.chance == pytest.approx(0.5)


def test_categories_and_missing_values_can_be_learnt_from():
    import pandas as pd

    colour = np.array(["red", "green", "blue", None] * 15, dtype=object)
    size = np.where(np.arange(60) % 7 == 0, np.nan, np.arange(60.0))
    frame = pd.DataFrame({"colour": colour, "size": size, "flat": 1.0})
    problem = Problem.of(frame, np.where(colour == "green", "yes", "no"))
    learner = LogisticRegression(max_iter=1000)
    scores = learn(problem, all_of(problem), KeepAll(), learner, scoring="accuracy")
    assert scores.nested == pytest.approx(1.0, abs=0.05)


class KeepAll:
    """A selector that keeps everything, missing values and all."""

    def get_params(self, deep=True):
        return {}

    def __sklearn_clone__(self):
        return self

    def fit(self, X, y):
        self.support_ = np.ones(X.shape[1], dtype=bool)
        return self


def test_sparse_and_dense_score_alike():
    X = NOISE.integers(0, 2, (80, 5)).astype(float)
    y = np.where(NOISE.random(80) < 0.1, 1 - X[:, 0], X[:, 0])
    scores = [
        learn(problem, all_of(problem), SelectKBest(k=2), LogisticRegression(), scoring="accuracy")
        for problem in (Problem.of(X, y), Problem.of(csr_array(X), y))
    ]
    assert scores[0] == scores[1]


def test_a_class_with_one_row_gets_no_score_even_from_a_learner_that_looks_perfect():
    X = NOISE.normal(size=(120, 3))
    problem = Problem.of(X, [0] * 119 + [1], task="classes")
    with pytest.raises(NoScore, match="class '1' has 1 row"):
        learn(
            problem,
            all_of(problem),
            KeepAll(),
            LogisticRegression(),
            scoring="balanced_accuracy",
        )


def test_explained_variance_of_a_constant_is_no_score():
    y = np.r_[np.zeros(29), [1.5, 2.5]]
    problem = Problem.of(NOISE.normal(size=(31, 2)), y, task="numbers")

    def score(scoring):
        return learn(problem, all_of(problem), KeepAll(), DummyRegressor(), scoring=scoring)

    with pytest.raises(NoScore, match="constant in the test rows"):
        score("r2")
    assert score("neg_mean_absolute_error").nested < 0


class NeedsManyRows(KeepAll):
    """A selector that refuses fewer than 20 rows."""

    def fit(self, X, y):
        if len(X) < 20:
            raise ProblemError("20 rows are needed.")
        return super().fit(X, y)


def test_what_can_be_selected_from_all_rows_but_not_in_a_fold_has_no_score():
    problem = Problem.of(NOISE.normal(size=(20, 2)), [0, 1] * 10)
    with pytest.raises(NoScore, match=r"fold of 16 training rows, 20 rows are needed\."):
        learn(problem, all_of(problem), NeedsManyRows(), LogisticRegression(), scoring="accuracy")


@given(st.integers(0, 1000), st.floats(0.0, 1.0))
def test_qualities_lie_within_0_and_1_and_only_for_what_was_used(seed, success):
    rng = np.random.default_rng(seed)
    problem = Problem.of(rng.integers(0, 3, (30, 4)), rng.permutation([0, 1, 2] * 10))
    selected = np.array([True, False, True, False])
    Q = qualities(problem, selected, success)
    assert ((Q >= 0) & (Q <= 1)).all()
    assert (Q[~selected] == 0).all()


def test_the_quality_of_a_perfect_feature_is_its_confidence_times_success():
    y = np.array([0, 1] * 20)
    problem = Problem.of(np.column_stack([y, np.zeros(40)]), y)
    np.testing.assert_allclose(qualities(problem, all_of(problem), 0.5), [40 / 45 * 0.5, 0.0])


def test_qualities_take_the_confidence_parameters_of_the_measure():
    X = np.random.default_rng(0).integers(0, 3, (30, 4)).astype(float)
    y = np.where(X[:, 0] > 0, "yes", "no")
    problem = Problem.of(X, y, space="s", feature_names=list("abcd"))

    def recorded(measure):
        settings = Settings(selector="climb", params={"measure": measure}, budget=60)
        worked = work(prepare(problem, settings.resolve(Registry()), None), learning=False)
        return worked.quality[0]

    share = 1.0  # of the target, which the first feature tells entirely
    assert recorded(MIConfidence(b=10)) == pytest.approx(share * 30 / 40)
    assert recorded(MIConfidence(b=10, r=0.5)) == pytest.approx(share * (30 / 40) ** 0.5)
    assert recorded(None) == pytest.approx(share * 30 / 35)


@pytest.mark.parametrize(
    ("scores", "success"),
    [
        (Scores("accuracy", nested=0.75, non_nested=0.9, chance=0.5), 0.5),
        (Scores("accuracy", nested=0.4, non_nested=0.9, chance=0.5), 0.0),
        (Scores("r2", nested=0.6, non_nested=0.9, chance=-0.1), 0.7 / 1.1),
        (Scores("neg_mean_squared_error", nested=-1.0, non_nested=-1.0, chance=-4.0), 0.75),
        (Scores("accuracy", nested=1.0, non_nested=1.0, chance=1.0), 0.0),
    ],
)
def test_success_runs_from_chance_to_the_best_there_is(scores, success):
    assert scores.success == pytest.approx(success)


def test_what_does_not_fit_is_told_in_a_sentence():
    classes = Problem.of(np.eye(4), [0, 1, 0, 1])
    numbers = Problem.of(np.eye(4), [0.5, 1.5, 2.25, 3.0])
    with pytest.raises(UsageError, match=r"'ridge' predicts numbers.*holds classes"):
        require_fitting_learner(Ridge(), "ridge", classes)
    with pytest.raises(UsageError, match=r"'logistic' predicts classes.*holds numbers"):
        require_fitting_learner(LogisticRegression(), "logistic", numbers)
    with pytest.raises(UsageError, match="did you mean accuracy"):
        scorer_named("acuracy")
    three = Problem.of(np.eye(6), [0, 1, 2] * 2)
    for scoring, problem, better in (
        ("r2", classes, "balanced_accuracy"),
        ("accuracy", numbers, "r2"),
        ("f1", three, "f1_macro"),
        ("roc_auc", three, "roc_auc_ovr"),
    ):
        with pytest.raises(UsageError, match=better):
            require_fitting_scoring(scoring, problem)
    require_fitting_scoring("roc_auc", classes)
    assert (default_scoring(classes), default_scoring(numbers)) == ("balanced_accuracy", "r2")
