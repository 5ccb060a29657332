"""What a target is: one rule, which plugins, the estimator and the loop share."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metafs import MetaSelector, Problem, Registry
from metafs.data.target import holds_classes, settled
from metafs.pipeline.fitting.selection import select

REGISTRY = Registry()

TARGETS = st.one_of(
    st.integers(2, 70).map(lambda n: np.arange(140) % n),
    st.integers(2, 70).map(lambda n: (np.arange(140) % n).astype(float)),
    st.integers(2, 70).map(lambda n: (np.arange(140) % n) / 2),
    st.integers(2, 70).map(lambda n: np.array([f"c{i % n}" for i in range(140)])),
    st.just(np.arange(140) % 2 == 0),
)


@given(TARGETS)
def test_a_target_is_settled_as_a_problem_has_it(y):
    y_settled = settled(y)
    problem = Problem.of(np.arange(140.0)[:, None], y)
    np.testing.assert_array_equal(y_settled, problem.y)
    assert holds_classes(y_settled) == problem.is_classification
    task = "classes" if problem.is_classification else "numbers"
    np.testing.assert_array_equal(settled(y_settled, task), y_settled)


def test_how_a_number_is_stored_plays_no_part():
    y = np.arange(120) % 60
    for stored in (y, y.astype(float), y.astype(object), y.astype(str)):
        assert settled(stored).dtype == np.float64, "60 values, twice each, are numbers"


@pytest.mark.parametrize("selector", ["infogain", "relieff", "climb"])
@settings(max_examples=8, deadline=None)
@given(TARGETS, st.sampled_from(["guided", "ranked", "none"]))
def test_an_empty_memory_changes_nothing(tmp_path_factory, selector, y, transfer):
    rng = np.random.default_rng(len(np.unique(y)))
    X = rng.normal(size=(140, 6))
    X[:, 2] += np.unique(y, return_inverse=True)[1] / 10
    given = {"transfer": transfer, "space": "s", "random_state": 0, "registry": REGISTRY}
    given["max_evaluations"] = 60
    db = tmp_path_factory.mktemp("memory") / "m.duckdb"
    without = MetaSelector(selector, **given).fit(X, y)
    with_db = MetaSelector(selector, db=db, **given).fit(X, y)
    np.testing.assert_array_equal(with_db.get_support(), without.get_support())
    np.testing.assert_array_equal(with_db.scores_, without.scores_)


@pytest.mark.parametrize("name", ["infogain", "fisher", "climb"])
def test_a_selector_by_itself_takes_a_target_for_what_the_loop_takes_it_for(name):
    rng = np.random.default_rng(0)
    y = np.arange(120) % 60
    X = np.column_stack([rng.normal(size=(120, 3)), y])
    problem = Problem.of(X, y)
    selector = REGISTRY.selectors[name]
    if "random_state" in selector.get_params():
        selector.set_params(random_state=0)
    found = select(selector, problem.X, problem.y).scores
    np.testing.assert_array_equal(selector.fit(X, y).scores_, found)


def test_a_task_that_was_asked_for_holds_in_selectors_too():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 60
    X = rng.normal(size=(120, 2))
    as_classes, as_numbers = (
        select(REGISTRY.selectors["infogain"], X, Problem.of(X, y, task=task).y).scores
        for task in ("classes", "numbers")
    )
    assert (as_classes > as_numbers + 0.5).all()
