"""The prefilter: which columns pass, and that a selection behind it is that of the passing ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from metafs import Problem
from metafs.errors import ProblemError
from metafs.pipeline.fitting.prefilter import informative_columns, select_informative, selecting
from metafs.pipeline.fitting.selection import select
from metafs.pipeline.loop import solve
from metafs.plugin.prior import Prior
from metafs_climb import Climb
from metafs_filters import InfoGainSelector

from ..test_presets import information

RNG = np.random.default_rng(0)
Y = np.arange(60) % 2
X = (RNG.random((60, 8)) < 0.5).astype(float)
X[:, 5] = Y
X[:, 2] = np.where(RNG.random(60) < 0.8, Y, 1 - Y)


@given(st.floats(0.0, 0.5))
def test_those_pass_that_tell_enough(least):
    told = [information(X[:, j].tolist(), Y.tolist()) for j in range(8)]
    expected = [j for j, bits in enumerate(told) if bits >= least - 1e-12]
    found = informative_columns(X, Y, least).tolist()
    assert set(found) <= set(expected) and all(
        abs(told[j] - least) < 1e-9 for j in set(expected) - set(found)
    )
    assert informative_columns(csr_array(X), Y, least).tolist() == found


@pytest.mark.parametrize("keep", [[], [0]])
def test_the_selection_is_that_of_the_passing_columns(keep):
    passed = informative_columns(X, Y, 0.05, keep=keep)
    assert 0 < len(passed) < 8 and set(keep) <= set(passed.tolist())
    prior = Prior(np.linspace(0, 1, 8), starts=(np.array([2, 3]),))
    place = [passed.tolist().index(column) for column in keep]
    climb = Climb(max_evaluations=50, random_state=0)
    alone = select(
        climb.set_params(keep_features=place or None), X[:, passed], Y,
        prior=prior.columns(passed), keep=place,
    )  # fmt: skip
    climb.set_params(keep_features=keep or None)
    found = select_informative(climb, X, Y, least=0.05, prior=prior, keep=keep)
    assert np.flatnonzero(found.selected).tolist() == passed[alone.selected].tolist()
    np.testing.assert_array_equal(found.scores[passed], alone.scores)
    assert np.isnan(np.delete(found.scores, passed)).all()
    assert (np.delete(found.ranking, passed) > found.ranking[passed].max()).all()
    assert (found.fitness, found.n_evaluations) == (alone.fitness, alone.n_evaluations)
    for (step, features, fitness), (own_step, own, own_fitness) in zip(
        found.candidates, alone.candidates, strict=True
    ):
        assert (step, fitness) == (own_step, own_fitness)
        assert list(features) == passed[list(own)].tolist()


def test_categories_and_properties_follow_their_columns():
    codes = X.copy()
    codes[:, 2] += 1  # the codes 1 and 2 of a category
    found = select_informative(
        InfoGainSelector(n_features_to_select=1), codes, Y, least=0.05,
        categorical=[0, 2], meta_features=np.eye(8),
    )  # fmt: skip
    assert np.flatnonzero(found.selected).tolist() == [5]


def test_without_a_prefilter_nothing_is_in_between():
    assert selecting(None) is select


def test_where_nothing_passes_a_sentence_says_so():
    with pytest.raises(ProblemError, match=r"no column has 0\.9 bits of information on the target"):
        select_informative(Climb(), X[:, :5], Y, least=0.9)


def test_what_was_described_by_other_columns_is_not_compared(tmp_path):
    def stream(db, *settings):
        quick = {"db": tmp_path / db, "selector": "infogain", "learner": "logistic", "folds": 2}
        rng = np.random.default_rng(1)
        tables = [(rng.random((60, 8)) < 0.5) * 1.0 for _ in settings]
        for number, (table, prefilter) in enumerate(zip(tables, settings, strict=True)):
            table[:, 5] = np.where(rng.random(60) < 0.8, Y, 1 - Y)
            problem = Problem.of(table, Y, name=f"table {number}", space="tables")
            (last,) = solve(problem, prefilter=prefilter, **quick)
        return last.neighbours

    ((name, near),) = stream("equal", 0.1, 0.1)
    assert name == "table 0" and near < 1
    assert stream("other", None, 0.1) == ()
    assert stream("other still", 0.05, 0.1) == ()
    assert [name for name, _ in stream("mixed", 0.1, None, 0.1)] == ["table 0"]
