"""The steps of the loop by themselves: what is prepared from memory, and what work makes of it."""

from dataclasses import replace

import numpy as np
import pytest

from metafs.data.problem import Problem
from metafs.errors import ProblemError
from metafs.memory.memory import Memory
from metafs.pipeline.loop import solve
from metafs.pipeline.preparing import prepare
from metafs.pipeline.settings import Settings
from metafs.pipeline.steps import kept_columns, search_cold, work
from metafs.pipeline.task import Stopwatch
from metafs.plugin.registry import Registry
from metafs_metadb import MetaDB

REGISTRY = Registry()
QUICK = {"selector": "climb", "budget": 100, "folds": 2}


@pytest.fixture
def memory(db, related):
    """A memory of two related problems, of which the second has a source of its own."""
    stream = [replace(related(number), source=f"{number}.csv") for number in range(2)]
    list(solve(stream, db=db, registry=REGISTRY, **QUICK))
    return Memory(MetaDB(db), REGISTRY.distances["jsd-features"])


def plan(**settings):
    return Settings(**{**QUICK, **settings}).resolve(REGISTRY)


def test_without_memory_or_space_nothing_is_described_or_recalled(memory, related):
    alone = prepare(related(2), plan(), None)
    bare = prepare(Problem.of(related(2).X, related(2).y), plan(), memory)
    for task in (alone, bare):
        assert (task.described, task.neighbours, task.prior) == (None, (), None)
        assert not task.teaches and task.seconds == {}
    assert work(alone, learning=False).learned is None


def test_neighbours_give_a_prior_and_one_for_the_folds_without_their_source(memory, related):
    task = prepare(replace(related(2), source="1.csv"), plan(), memory)
    assert {each.name for each in task.neighbours} == {"problem 0", "problem 1"}
    assert {each.problem for each in task.prior.sources} == {"problem 0", "problem 1"}
    assert [each.problem for each in task.fold_prior.sources] == ["problem 0"]
    assert set(task.history.problem_ids) > set(task.fold_history.problem_ids)
    assert set(task.seconds) == {"describe", "recall", "expect"}


def test_what_is_not_to_be_learnt_gets_no_prior_for_folds(memory, related):
    task = prepare(related(2), plan(), memory, learning=False)
    assert task.prior is not None and task.fold_prior is None
    result = work(task, learning=False)
    assert (result.scores, result.learner) == (None, None)
    assert result.learned.reference is not None and "learn" in result.seconds


@pytest.mark.parametrize(
    ("settings", "n_neighbours"),
    [({"transfer": "none"}, 0), ({"transfer": "ranked"}, 0), ({"selector": "fisher"}, 2)],
    ids=str,
)
def test_what_takes_no_expectations_gets_none_from_memory(memory, related, settings, n_neighbours):
    task = prepare(related(2), plan(**settings), memory)
    assert len(task.neighbours) == n_neighbours
    if settings.get("transfer") == "ranked":
        assert not task.prior.expected.any()
    elif "transfer" in settings:
        assert task.prior is None


def test_a_name_that_is_left_out_is_not_recalled(memory, related):
    task = prepare(related(2), plan(), memory, exclude_name="problem 0")
    assert [each.name for each in task.neighbours] == ["problem 1"]


def test_a_cold_search_is_made_only_to_check_what_memory_saved(memory, related):
    task = prepare(related(2), plan(), memory)
    assert search_cold(task, []) is None
    cold, seconds = search_cold(replace(task, checked=True), [])
    assert seconds > 0 and cold.fitness == work(prepare(related(2), plan(), None)).selection.fitness
    assert search_cold(replace(task, checked=True, prior=None), []) is None


def test_columns_to_keep_are_found_by_name(related):
    assert kept_columns(related(0), ("w3", "w0")) == [3, 0]
    with pytest.raises(ProblemError, match="'problem 0' has no column 'nope' to keep"):
        kept_columns(related(0), ("nope",))


def test_a_selection_of_nothing_is_an_error(related):
    with pytest.raises(ProblemError, match="selected no feature of 'problem 0'"):
        work(prepare(related(0), plan(selector=Nothing()), None))


class Nothing:
    """A selector that selects nothing."""

    def get_params(self, deep=True):
        return {}

    def set_params(self):
        return self

    def fit(self, X, y):
        self.support_ = np.zeros(X.shape[1], bool)
        return self


def test_a_stopwatch_adds_up_by_phase_even_after_an_error():
    clock = Stopwatch()
    for _ in range(2):
        with pytest.raises(RuntimeError), clock("select"):
            raise RuntimeError
    with clock("learn"):
        pass
    assert set(clock.seconds) == {"select", "learn"}
