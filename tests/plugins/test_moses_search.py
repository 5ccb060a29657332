"""The search: knobs against rebuilt programs, budgets, seeds, resuming, and known functions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metafs_moses.budget import Budget
from metafs_moses.deme import Task
from metafs_moses.distribution import outputs_of
from metafs_moses.knobs import Pool, Representation
from metafs_moses.literals import Literals
from metafs_moses.neighbourhood import Neighbourhood
from metafs_moses.normal_form import normal_form
from metafs_moses.packed import Target, truths, unpacked
from metafs_moses.program import size
from metafs_moses.search import Search

from .interpreting import (
    LITERALS,
    every_row,
    interpreted,
    multiplexer,
    parity,
    programs,
    truth_table,
)


def representation(program, X, literals, seed):
    n, missing = len(literals.cuts), bool(literals.with_missing)
    pool = Pool(truths(literals, X), np.full(n, 1 / n), 3, 6, missing)
    rng = np.random.default_rng(seed)
    return Representation(normal_form(program, literals), pool, rng)


@given(programs(), st.integers(0, 99))
@settings(deadline=None, max_examples=60)
def test_each_knob_scores_as_the_program_it_makes(program, seed):
    X = every_row()[:130]
    rng = np.random.default_rng(seed)
    wanted, weights = rng.random(len(X)) < 0.5, rng.integers(1, 9, len(X))
    knobs = representation(program, X, LITERALS, seed)
    near, row = Neighbourhood(knobs), int(rng.integers(len(X)))
    places = near.mattering(row)
    errors, says = near.scored(places, Target.of(wanted, weights), row)
    allowed, longer = near.allowed(places), near.longer(places)
    for i, knob in np.argwhere(allowed).tolist():
        made = knobs.program({(int(places[i]), knob)})
        said = interpreted(made, LITERALS, X)
        assert errors[i, knob] == weights[said != wanted].sum()
        assert says[i, knob] == said[row]
        assert size(made) == near.sizes[0] + longer[i, knob]


@given(programs(), st.integers(0, 99), st.booleans())
@settings(deadline=None, max_examples=60)
def test_several_knobs_say_what_the_program_they_make_says(program, seed, missing):
    X, rng = every_row(), np.random.default_rng(seed)
    literals = LITERALS if missing else Literals(LITERALS.cuts)
    X = X if missing else X[~np.isnan(X).any(axis=1)]
    knobs = representation(program, X, literals, seed)
    near = Neighbourhood(knobs)
    every = [(place, knob) for place in range(len(knobs.nodes)) for knob in range(knobs.n_knobs)]
    usable = [
        (p, k) for p, k in every if (p or k < knobs.absent) and not (missing and k == knobs.turned)
    ]
    on = rng.random((5, len(usable))) < 3 / len(usable)
    said = unpacked(outputs_of(near, on, np.array(usable)), len(X))
    for found, which in zip(said, on, strict=True):
        made = knobs.program({usable[i] for i in np.flatnonzero(which)})
        np.testing.assert_array_equal(found, interpreted(made, literals, X))


@given(programs())
@settings(max_examples=60)
def test_with_all_knobs_off_a_representation_is_its_exemplar(program):
    X = every_row()
    knobs = representation(program, X, LITERALS, 0)
    short = normal_form(program, LITERALS)
    assert normal_form(knobs.program(set()), LITERALS) == short
    np.testing.assert_array_equal(
        unpacked(Neighbourhood(knobs).output, len(X)), interpreted(short, LITERALS, X)
    )


def search_for(X, wanted, seed=0, complexity=0.1, exemplars=(), **parameters):
    literals = Literals.of((j, 0.5) for j in range(X.shape[1]))
    pool = Pool(truths(literals, X), np.full(X.shape[1], 1 / X.shape[1]), 100, 20)
    task = Task(literals, pool, wanted, np.ones(len(X), dtype=np.int64), complexity, **parameters)
    return Search(task, np.random.default_rng(seed), exemplars)


def noisy(seed=0, n=150):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(n, 8)).astype(np.float64)
    return X, ((X[:, 0] + X[:, 1] * X[:, 2]) > 0) ^ (rng.random(n) < 0.2)


MAJORITY = truth_table(5), truth_table(5).sum(axis=1) > 2


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("function", "most"),
    [
        pytest.param(parity(2), 500, id="parity 2"),
        pytest.param(parity(3), 3_000, id="parity 3"),
        pytest.param(MAJORITY, 10_000, id="majority 5"),
        pytest.param(multiplexer(1), 500, id="3-multiplexer"),
        pytest.param(multiplexer(2), 6_000, id="6-multiplexer"),
    ],
)
def test_known_functions_are_found_exactly(function, most, seed):
    X, wanted = function
    search = search_for(X, wanted, seed)
    found = search.run(Budget(most))
    assert found.errors == 0
    np.testing.assert_array_equal(interpreted(found.program, search.task.literals, X), wanted)


@given(st.integers(0, 900), st.sampled_from([0, 7]))
@settings(deadline=None, max_examples=30)
def test_a_budget_is_spent_exactly(most, n_samples):
    budget = Budget(most)
    found = search_for(*noisy(), n_samples=n_samples).run(budget)
    assert budget.used == most
    assert found.errors > 0


def test_no_time_is_no_evaluation():
    budget = Budget(1000, seconds=0)
    search_for(*noisy()).run(budget)
    assert budget.used == 0 and budget.is_late


def test_the_same_seed_finds_the_same_program():
    one, two = (search_for(*noisy(), seed=5).run(Budget(3000)) for _ in range(2))
    assert one.program == two.program


def test_the_errors_are_those_of_the_program():
    X, wanted = noisy()
    search = search_for(X, wanted)
    found = search.run(Budget(3000))
    said = interpreted(found.program, search.task.literals, X)
    assert found.errors == np.count_nonzero(said != wanted)
    assert found.score == pytest.approx(found.errors + 0.1 * size(found.program))


@given(st.lists(st.integers(0, 3000), min_size=1, max_size=4), st.integers(0, 50))
@settings(deadline=None, max_examples=15)
def test_a_search_in_parts_is_one_longer_search(stops, seed):
    """Also over the end of demes, for which the patience is short."""
    X, wanted = noisy()
    whole = search_for(X, wanted, seed, patience=3).run(Budget(3000))
    parts = search_for(X, wanted, seed, patience=3)
    for stop in sorted(stops):
        parts.run(Budget(stop))
    budget = Budget(3000)
    assert parts.run(budget).program == whole.program
    assert budget.used == 3000


def test_more_evaluations_are_never_worse():
    scores = [
        search_for(*noisy(), patience=5).run(Budget(most)).score for most in range(0, 4000, 400)
    ]
    assert scores == sorted(scores, reverse=True)


def test_a_program_given_is_where_the_search_starts():
    X, wanted = parity(4)
    known = search_for(X, wanted).run(Budget(10_000)).program
    budget = Budget(1000)
    assert search_for(X, wanted, exemplars=[("and", 0, 2), known]).run(budget).errors == 0
    assert budget.used == 2


def test_a_program_without_errors_that_is_too_long_does_not_end_the_search():
    X, wanted = parity(3)
    search = search_for(X, wanted, complexity=1.0)
    assert search.run(Budget(5000)).errors == 4
    assert search.n_evaluations <= 5000
