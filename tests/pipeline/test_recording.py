"""One record from the search to the MetaDB: what a solution, a row and a stored run share."""

from dataclasses import fields, replace

import pytest

from metafs.errors import ProblemError, UsageError
from metafs.memory.memory import Memory
from metafs.pipeline.preparing import prepare
from metafs.pipeline.recording import fail, failure, finish, run_row, skipped
from metafs.pipeline.settings import Settings
from metafs.pipeline.solution import Solution
from metafs.pipeline.steps import work
from metafs.plugin.registry import Registry
from metafs.version import __version__
from metafs_metadb import MetaDB, RunRow

REGISTRY = Registry()
PLAN = Settings(budget=100, folds=2, seed=3, selector="climb").resolve(REGISTRY)


@pytest.fixture
def memory(db):
    MetaDB(db).ensure()
    return Memory(MetaDB(db), PLAN.distance)


def solved(memory, problem):
    task = prepare(problem, PLAN, memory)
    return finish(task, work(task), memory)


def test_every_column_of_a_run_comes_from_the_solution():
    names = {each.name for each in fields(Solution)} | {"n_selected"}
    columns = {each.name for each in fields(RunRow)}
    assert columns - names == {"metafs_version", "duration_s"}


def test_what_is_stored_is_what_was_returned(memory, related, ask):
    found = solved(memory, related(0))
    row = run_row(found)
    assert (row.selector, row.learner, row.seed) == ("climb", "logistic", 3)
    assert (row.n_selected, row.metafs_version) == (len(found.features), __version__)
    columns = ("status", "selector", "learner", "transfer", "seed", "fitness", "score", "stopped")
    (stored,) = ask(f"select {', '.join(columns)} from run")
    assert stored == tuple(getattr(found, name) for name in columns)
    assert found.settings == PLAN.settings.digest_for(related(0))
    assert set(found.seconds) == {"describe", "recall", "expect", "select", "learn", "record"}


def test_a_skipped_problem_has_the_stored_fields(memory, related):
    found = solved(memory, related(0))
    again = skipped(related(0), memory.solved(related(0), found.settings))
    assert again.status == "skipped" and again.features == found.features
    for name in ("fitness", "score", "non_nested_score", "scoring", "n_evaluations", "stopped"):
        assert getattr(again, name) == getattr(found, name)
    for name in ("selector", "learner", "distance", "transfer", "seed", "n_features"):
        assert getattr(again, name) == getattr(found, name)


def test_without_memory_nothing_is_recorded_and_nothing_took_time_to_record(related):
    task = prepare(related(0), PLAN, None)
    found = finish(task, work(task), None)
    assert found.status == "solved" and "record" not in found.seconds
    assert (found.distance, found.prior_used, found.experience) == (None, None, "none")


def test_a_failure_is_one_line_with_its_traceback():
    try:
        raise UsageError("give\n  another   name.")
    except UsageError as error:
        found = failure(error, "p")
    assert (found.problem, found.status, found.error) == ("p", "failed", "give another name.")
    assert found.stored_error == found.error and "Traceback" in found.details


def test_the_memory_gets_no_cell_that_an_error_quotes(memory, related, ask):
    foreseen = ProblemError("column 'a' holds 'secret'.")
    foreseen.without_data = "column 'a' holds text."
    for error in (foreseen, ValueError("could not convert 'secret'")):
        failed = fail(failure(error, "p"), related(0), PLAN, memory)
        assert "secret" in failed.error
    stored = [error for (error,) in ask("select error from run where status = 'failed'")]
    assert len(stored) == 2 and stored[0] == "column 'a' holds text."
    assert not any("secret" in each for each in stored)


def test_a_problem_that_could_not_be_read_is_not_recorded(memory, ask):
    failed = failure(ProblemError("no such file."), "p")
    assert fail(failed, None, PLAN, memory) is failed
    assert ask("select count(*) from problem") == [(0,)]


def test_the_result_of_a_task_may_be_a_failure(memory, related, ask):
    task = prepare(related(0), PLAN, memory)
    failed = finish(task, failure(ProblemError("too hard."), "problem 0"), memory)
    assert failed.status == "failed" and failed.selector == "climb"
    assert ask("select error, selector, seed from run") == [("too hard.", "climb", 3)]


def test_a_solution_in_json_has_the_former_name_of_the_non_nested_score():
    found = replace(Solution("p", "solved"), non_nested_score=0.5)
    assert found.as_json()["optimistic_score"] == found.optimistic_score == 0.5
