"""Engines: the same results in the order of the tasks, wherever the work is done."""

import os

import pytest

from metafs.errors import UsageError
from metafs.pipeline.engines.opening import ENGINES, open_engine, require_engine


def square(number):
    return number * number, os.getpid()


def divided(number):
    return 12 // number


@pytest.mark.parametrize(
    ("engine", "jobs"), [("inline", 1), ("local", 1), ("local", 2), ("dask", 2)]
)
def test_results_come_in_the_order_of_the_tasks(engine, jobs):
    if engine == "dask":
        pytest.importorskip("distributed")
    with open_engine(engine, jobs) as side_by_side:
        found = list(side_by_side(square, range(7)))
        assert list(side_by_side(square, [])) == []
    assert [value for value, _ in found] == [0, 1, 4, 9, 16, 25, 36]
    processes = {process for _, process in found}
    assert (processes == {os.getpid()}) == (engine == "inline")
    assert len(processes) <= jobs or engine == "dask"


@pytest.mark.parametrize(("engine", "jobs"), [("inline", 1), ("local", 2)])
def test_an_error_is_raised_in_its_place(engine, jobs):
    with open_engine(engine, jobs) as side_by_side:
        results = iter(side_by_side(divided, [3, 0, 2]))
        assert next(results) == 4
        with pytest.raises(ZeroDivisionError):
            next(results)


@pytest.mark.parametrize(
    ("engine", "jobs", "words"),
    [
        ("spark", 1, "there are local, dask, inline"),
        ("local", 0, "jobs must be at least 1, or -1"),
        ("local", -2, "jobs must be at least 1, or -1"),
        ("inline", 2, "'inline' has one process, not 2 jobs"),
    ],
)
def test_what_makes_no_sense_is_refused(engine, jobs, words):
    with pytest.raises(UsageError, match=words):
        require_engine(engine, jobs)


def test_dask_is_asked_for_only_where_it_is_installed(monkeypatch):
    for engine in ENGINES:
        require_engine(engine, 1)
    monkeypatch.setattr("metafs.pipeline.engines.opening.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install 'metafs-automl\[dask\]'"):
        require_engine("dask", 1)
