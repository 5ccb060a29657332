"""The classifier: thresholds, kinds of tables, missing values, classes, weights, memory's entry."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from metafs.errors import ProblemError, UsageError
from metafs.plugin import Prior
from metafs_moses import MosesClassifier
from metafs_moses.thresholds import thresholds

from .interpreting import parity

WORDS = ["viagra", "free", "meeting"]


def mails(n=60, seed=0):
    """Return mails of which those with viagra or free and no meeting are spam."""
    X = np.random.default_rng(seed).integers(0, 2, size=(n, 3))
    spam = (X[:, 0] | X[:, 1]) & ~X[:, 2] & 1
    return pd.DataFrame(X, columns=WORDS), np.where(spam, "spam", "ham")


def test_the_sentence_reads_as_one():
    X, y = mails()
    n = np.count_nonzero(y == "spam")
    learner = MosesClassifier().fit(X, y)
    assert learner.sentences_ == [
        f"spam if (viagra or free) and not meeting: {n} of {n} rows, 0 errors"
    ]
    assert learner.stopped_ == "no errors left"
    assert learner.scores_ == [0.0] and learner.sizes_ == [3]


def test_support_and_errors_are_counted_on_the_rows():
    X, y = mails(200)
    wrong = np.random.default_rng(1).random(200) < 0.1
    y = np.where(wrong, np.where(y == "spam", "ham", "spam"), y)
    learner = MosesClassifier(complexity=3.0).fit(X, y)
    said = learner.predict(X) == "spam"
    right, false = np.count_nonzero(said & (y == "spam")), np.count_nonzero(said & (y == "ham"))
    of = np.count_nonzero(y == "spam")
    assert learner.sentences_[0].endswith(f": {right} of {of} rows, {false} errors")
    assert learner.scores_ == [-(of - right + false)]


def test_dense_sparse_and_frame_are_the_same():
    X, y = mails()
    frame = MosesClassifier().fit(X, y)
    dense = MosesClassifier().fit(X.to_numpy(), y)
    sparse = MosesClassifier().fit(csr_array(X.to_numpy(dtype=np.float64)), y)
    np.testing.assert_array_equal(frame.predict(X), dense.predict(X.to_numpy()))
    np.testing.assert_array_equal(frame.predict(X), sparse.predict(csr_array(X.to_numpy())))
    assert dense.programs_ == sparse.programs_


def test_the_input_is_left_alone():
    X, y = mails()
    before = X.copy()
    MosesClassifier().fit(X, y)
    pd.testing.assert_frame_equal(X, before)


def test_thresholds_are_found_between_the_classes():
    values = np.arange(100.0)
    wanted = (values > 20.5) & (values < 60.5)
    assert thresholds(values, np.eye(2)[wanted.astype(int)], 2) == [20.5, 60.5]
    X = np.column_stack([values, np.random.default_rng(0).normal(size=100)])
    learner = MosesClassifier().fit(X, wanted)
    assert learner.sentences_ == ["True if x0 > 20.5 and x0 <= 60.5: 40 of 40 rows, 0 errors"]


def test_a_column_that_tells_nothing_alone_is_cut_in_the_middle():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0)
    assert MosesClassifier().fit(X, y).score(X, y) > 0.85


@pytest.mark.parametrize("pair", [(1.0, np.nextafter(1.0, 2.0)), (-1e308, 1.7e308)])
def test_any_two_values_can_be_told_apart(pair):
    X = np.array(pair * 5)[:, None]
    y = np.tile([0, 1], 5)
    assert MosesClassifier().fit(X, y).score(X, y) == 1.0


def test_a_missing_value_satisfies_no_literal():
    X = np.array([[0.0], [1.0], [np.nan]] * 10)
    y = np.array(["no", "yes", "no"] * 10)
    learner = MosesClassifier().fit(X, y)
    assert learner.sentences_ == ["yes if x0: 10 of 10 rows, 0 errors"]
    other = MosesClassifier().fit(X, np.array(["no", "yes", "yes"] * 10))
    assert other.score(X, ["no", "yes", "yes"] * 10) == pytest.approx(2 / 3)


def test_each_class_has_a_program_against_the_rest():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(200, 6)).astype(np.float64)
    y = np.array(["a", "b", "c"])[(X[:, 0] + X[:, 0] * X[:, 1]).astype(int)]
    learner = MosesClassifier().fit(X, y)
    assert learner.score(X, y) == 1.0
    assert [text.split(":")[0] for text in learner.sentences_] == [
        "a if not x0",
        "b if x0 and not x1",
        "c if x0 and x1",
    ]
    np.testing.assert_allclose(learner.predict_proba(X).sum(axis=1), 1.0)


def test_the_budget_is_divided_and_never_exceeded():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 4)), rng.integers(0, 3, 90)
    for most in (1, 2, 100, 1001):
        learner = MosesClassifier(max_evaluations=most).fit(X, y)
        assert learner.n_evaluations_ == most
        assert learner.stopped_ == "evaluations"


def test_seconds_end_a_search():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(5000, 3)), rng.integers(0, 2, 5000)
    learner = MosesClassifier(max_evaluations=10**9, max_seconds=0.2).fit(X, y)
    assert learner.stopped_ == "seconds"
    assert 0 < learner.n_evaluations_ < 10**9


def test_probabilities_are_those_of_the_rows():
    X = np.array([[0.0]] * 8 + [[1.0]] * 3)
    y = [0] * 7 + [1] + [1] * 3
    learner = MosesClassifier().fit(X, y)
    np.testing.assert_allclose(learner.predict_proba([[0.0], [1.0]])[:, 1], [2 / 10, 4 / 5])


def test_whole_weights_are_repeated_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    weights = rng.integers(0, 4, 60)
    weighted = MosesClassifier(max_evaluations=1000).fit(X, y, sample_weight=weights)
    repeated = np.repeat(np.arange(60), weights)
    twice = MosesClassifier(max_evaluations=1000).fit(X[repeated], y[repeated])
    assert weighted.scores_ == twice.scores_


def test_a_fit_that_continues_is_one_longer_fit():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 6)), rng.integers(0, 3, 150)
    whole = MosesClassifier(max_evaluations=6000).fit(X, y)
    parts = MosesClassifier(max_evaluations=700, warm_start=True).fit(X, y)
    parts = pickle.loads(pickle.dumps(parts))
    parts.set_params(max_evaluations=6000).fit(X, y)
    assert parts.programs_ == whole.programs_
    assert parts.n_evaluations_ == whole.n_evaluations_ == 6000


def test_a_warm_start_on_other_rows_begins_with_the_programs_found():
    X, y = parity(4)
    learner = MosesClassifier(warm_start=True).fit(X, y)
    assert learner.score(X, y) == 1.0
    learner.set_params(max_evaluations=1).fit(np.tile(X, (2, 1)), np.tile(y, 2))
    assert learner.score(X, y) == 1.0


def test_programs_of_another_problem_are_where_a_search_starts():
    X, y = mails()
    programs = json.loads(json.dumps(MosesClassifier().fit(X, y).programs_))
    other = X[["meeting", "free", "viagra"]].assign(lunch=1 - X["free"])
    learner = MosesClassifier(max_evaluations=1).fit(other, y, programs=programs)
    assert learner.sentences_[0].startswith("spam if (free or viagra) and not meeting")
    fewer = MosesClassifier(max_evaluations=1).fit(X[["meeting", "free"]], y, programs=programs)
    assert fewer.sentences_[0].startswith("spam if free and not meeting")


def test_a_threshold_of_a_given_program_is_kept():
    X = np.arange(50.0)[:, None]
    y = X[:, 0] > 20
    given = {"not": {"feature": 0, "above": 20.25}}
    learner = MosesClassifier(max_evaluations=1).fit(X, ~y, programs=[given])
    assert learner.programs_ == [{"feature": 0, "at_most": 20.25}]


def test_a_prior_is_tried_first_and_may_be_wrong():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(300, 400)).astype(np.float64)
    y = X[:, 3] != X[:, 7]  # of which information gain says nothing
    right = np.zeros(400)
    right[[3, 7]] = 0.9

    def mean_score(prior):
        fitted = [
            MosesClassifier(random_state=seed, n_literals=20).fit(X, y, prior=prior)
            for seed in range(4)
        ]
        return np.mean([each.score(X, y) for each in fitted])

    assert mean_score(Prior(right)) == 1.0 > mean_score(None)
    assert mean_score(right[::-1].copy()) >= 0.5


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_evaluations": 0},
        {"max_seconds": -1},
        {"complexity": -1},
        {"n_thresholds": 0},
        {"n_samples": -1},
        {"patience": 0},
        {"random_state": "a"},
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters):
    with pytest.raises(UsageError):
        MosesClassifier(**parameters).fit([[0], [1]], [0, 1])


def test_bad_input_is_a_sentence():
    with pytest.raises(ProblemError, match="one class"):
        MosesClassifier().fit([[0], [1]], [1, 1])
    with pytest.raises(UsageError, match="one expectation for each"):
        MosesClassifier().fit([[0], [1]], [0, 1], prior=[0.5, 0.5])
    with pytest.raises(UsageError, match="is no program"):
        MosesClassifier().fit([[0], [1]], [0, 1], programs=[{"nand": []}])


def test_constant_columns_leave_the_larger_class():
    learner = MosesClassifier().fit(np.ones((9, 2)), [0] * 3 + [1] * 6)
    assert learner.sentences_ == ["1 always: 6 of 6 rows, 3 errors"]
    assert learner.n_evaluations_ == 0


def test_of_many_columns_the_relevant_ones_are_found():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(400, 2000)).astype(np.float64)
    y = (X[:, 30] + X[:, 700]) > 0
    found = MosesClassifier(max_evaluations=5000).fit(csr_array(X), y).sentences_[0]
    assert found.startswith("True if x30 or x700: ")
