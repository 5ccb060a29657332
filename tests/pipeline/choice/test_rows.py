"""Which rows of a large table take part: sampled paths are forced by low thresholds."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.dummy import DummyClassifier

from metafs import Problem
from metafs.pipeline.choice import rows
from metafs.pipeline.choice.candidates import Candidate
from metafs.pipeline.choice.costs import seconds_to_learn
from metafs.pipeline.loop import solve
from metafs.plugin.registry import Registry


@pytest.fixture
def small(monkeypatch):
    """Let tables of 200 rows count as large."""
    monkeypatch.setattr(rows, "MOST_ROWS", 150)
    monkeypatch.setattr(rows, "LEAST_ROWS", 100)


def table(n_rows, *, numbers=False, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 6))
    y = X[:, 0] - X[:, 2] + 0.3 * rng.normal(size=n_rows)
    return Problem.of(X, y if numbers else np.where(y > 0, "up", "down"), space="here")


def test_a_small_table_is_taken_as_it_is():
    problem = table(300)
    assert rows.sampled(problem) is problem
    assert rows.at_last(problem, problem, Candidate("remembered"), {}, 0) == (problem, ())


def test_sparse_tables_count_what_they_store():
    assert rows.sample_size(np.zeros((20_000, 1000))) == 5_000
    assert rows.sample_size(csr_array((20_000, 1000))) == 10_000


@given(
    counts=st.lists(st.integers(1, 300), min_size=2, max_size=6),
    n_wanted=st.integers(10, 200),
    seed=st.integers(0, 9),
)
def test_every_class_has_its_share_and_rare_ones_are_whole(counts, n_wanted, seed):
    y = np.repeat([f"class {code}" for code in range(len(counts))], counts)
    problem = Problem.of(np.arange(len(y))[:, None], y)
    chosen = rows.some_rows(problem, n_wanted, seed)
    assert (np.diff(chosen) > 0).all()
    for code, count in enumerate(np.bincount(problem.y)):
        n_chosen = np.count_nonzero(problem.y[chosen] == code)
        share = round(count * n_wanted / len(y))
        assert n_chosen == min(count, max(share, rows.LEAST_OF_CLASS))


def test_groups_are_taken_whole():
    problem = replace(table(400), groups=np.arange(400) % 40)
    seen = rows.of_rows(problem, rows.some_rows(problem, 100))
    assert 100 <= seen.n_samples <= 110
    assert set(np.bincount(seen.groups)) <= {0, 10}


@pytest.mark.parametrize("numbers", [False, True])
def test_a_sample_chooses_and_all_rows_teach(small, numbers):
    problem = table(400, numbers=numbers)
    asked = {"db": None, "selector": "auto", "learner": "remembered", "folds": 3}
    (found,) = solve(problem, engine="inline", **asked)
    assert {"x0", "x2"} <= set(found.features)
    (note,) = [each for each in found.notes if "chose the pipeline" in each]
    assert "of 400 rows, 150 chose" in note
    assert note.endswith("learnt from all rows")
    fitted = found.model.estimator
    learner = getattr(fitted, "estimator", fitted)[-1]  # inside balanced decisions, or not
    assert learner.estimator_.model_.n_rows == 400


@pytest.mark.parametrize("learner", ["remembered", "extra-trees", "kernel-svm", "boosting"])
def test_the_last_fit_takes_as_many_rows_as_its_seconds_allow(learner):
    problem = Problem.of(np.zeros((400_000, 1)), np.arange(400_000) % 2, leave_out="nothing")
    problem = replace(problem, X=np.broadcast_to(problem.X, (400_000, 90)))
    learners = {**Registry().learners, "another": DummyClassifier()}
    n_rows = rows.rows_at_last(problem, Candidate(learner), learners, 5_000)
    assert 5_000 <= n_rows <= 400_000

    def takes(n):
        return seconds_to_learn(problem, Candidate(learner), learners, n)

    if n_rows < 400_000:
        assert takes(n_rows + 1) > rows.MOST_SECONDS_AT_LAST
    if n_rows > 5_000:
        assert takes(n_rows) <= rows.MOST_SECONDS_AT_LAST
    assert n_rows == 400_000 if learner == "remembered" else n_rows < 400_000
    unknown = rows.rows_at_last(problem, Candidate("another"), learners, 5_000)
    assert unknown == rows.MOST_ROWS_UNKNOWN


def test_rows_without_label_are_sampled_too(small):
    problem = replace(table(120), X_unlabelled=np.ones((500, 6)))
    seen = rows.sampled(problem)
    assert (seen.n_samples, seen.X_unlabelled.shape) == (120, (150, 6))


def test_a_large_table_has_the_same_answer_for_any_number_of_jobs(small):
    stream = [replace(table(300, seed=seed), name=f"number {seed}") for seed in range(2)]
    asked = {"db": None, "selector": "auto", "learner": "remembered", "folds": 3, "batch": 2}
    one, two = (list(solve(stream, jobs=jobs, **asked)) for jobs in (1, 2))
    assert all("150 chose" in each.notes[-1] for each in one)
    assert [(each.features, each.score) for each in one] == [
        (each.features, each.score) for each in two
    ]
