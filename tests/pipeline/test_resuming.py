"""A stream that is interrupted and resumed gives the answers of one that never was."""

import pytest

from metafs.pipeline.loop import solve
from metafs_metadb import MetaDB

QUICK = {"selector": "climb", "budget": 200, "folds": 2}


def answers(results):
    return [(each.problem, each.features, each.n_evaluations, each.score) for each in results]


def asked(db):
    query = """
        select p.name, list(q.name order by n.rank), list(n.distance order by n.rank)
        from run r join problem p using (problem_id) join neighbour n using (run_id)
        join problem q on q.problem_id = n.problem_id group by all order by all
    """
    return list(MetaDB(db).sql(query)[1])


def held(db):
    return sorted(db.parent.glob(f".{db.name}.held/*"))


@pytest.fixture
def stream(related):
    return [related(number) for number in range(6)]


@pytest.fixture
def uninterrupted(stream, tmp_path):
    """What a stream of batches of three says, and whom each problem asked."""
    db = tmp_path / "whole.duckdb"
    return answers(solve(stream, db=db, batch=3, **QUICK)), asked(db)


@pytest.mark.parametrize("done", [4, 5])
def test_the_rest_of_a_batch_recalls_nothing_of_its_first_half(db, stream, uninterrupted, done):
    results, neighbours = uninterrupted
    first = solve(stream, db=db, batch=3, **QUICK)
    half = [next(first) for _ in range(done)]
    first.close()
    assert len(held(db)) == 1
    rest = list(solve(stream, db=db, batch=3, **QUICK))
    assert [each.status for each in rest] == ["skipped"] * done + ["solved"] * (6 - done)
    assert answers([*half, *rest[done:]]) == results
    assert asked(db) == neighbours
    assert held(db) == []
    assert MetaDB(db).check() == []


def test_it_may_be_interrupted_again(db, stream, uninterrupted):
    results, neighbours = uninterrupted
    found = {}
    for stop in (4, 5, 6):
        going = solve(stream, db=db, batch=3, **QUICK)
        for _ in range(stop):
            each = next(going)
            found.setdefault(each.problem, each)
        going.close()
    assert answers(found.values()) == results
    assert asked(db) == neighbours


def test_what_an_earlier_stream_solved_is_recalled_as_before(db, stream):
    list(solve(stream[:2], db=db, **QUICK))
    results = list(solve(stream[:4], db=db, batch=4, **QUICK))
    assert [each.status for each in results] == ["skipped"] * 2 + ["solved"] * 2
    for each in results[2:]:
        assert {name for name, _ in each.neighbours} == {"problem 0", "problem 1"}


def test_batches_that_nobody_goes_on_with_are_given_up(db, stream):
    for start in range(5):
        going = solve(stream[start : start + 2], db=db, batch=2, selector="infogain", folds=2)
        next(going)
        going.close()
    assert len(held(db)) == 4


def test_without_links_the_file_is_copied(db, stream, uninterrupted, monkeypatch):
    def refuse(*arguments):
        raise OSError

    monkeypatch.setattr("os.link", refuse)
    first = solve(stream, db=db, batch=3, **QUICK)
    half = [next(first) for _ in range(5)]
    first.close()
    rest = list(solve(stream, db=db, batch=3, **QUICK))
    assert (answers([*half, *rest[5:]]), asked(db)) == uninterrupted
