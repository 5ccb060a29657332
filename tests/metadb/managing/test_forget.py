"""A memory that forgot or excludes a problem answers as one that never saw it."""

import os
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metafs_metadb import MetaDB, MetaDBMissing, NeighbourRow
from metafs_metadb.files import log

from ..building import record as record_one
from ..remembering import SPACES, answers, early, memories, remember


def ids_of(db, numbers):
    names = {f"problem {number}" for number in numbers}
    rows = db.problems().only(["name", "problem_id"]).rows
    return [problem_id for name, problem_id in rows if name in names]


@settings(max_examples=3)
@given(memories, st.sets(st.integers(0, 6), min_size=1), st.booleans())
def test_forgetting_and_excluding_are_as_never_having_seen(solved, gone, warm):
    with tempfile.TemporaryDirectory() as folder, early():
        db = remember(MetaDB(Path(folder) / "all.duckdb"), solved)
        rest = tuple(each for each in solved if each.problem not in gone)
        expected = answers(remember(MetaDB(Path(folder) / "rest.duckdb"), rest))
        whole = answers(db)
        ids = ids_of(db, gone)
        db.set_excluded(ids, True)
        excluded = answers(db)
        about_others = {each for each in expected if " of problem " not in each}
        assert {each: excluded[each] for each in about_others} == {
            each: expected[each] for each in about_others
        }
        assert answers(MetaDB(db.path)) == excluded, "caches of another process"
        db.set_excluded(ids, False)
        assert answers(db) == whole
        db.forget(ids)
        assert answers(db if warm else MetaDB(db.path)) == expected
        record_one(db, "a later one", space=SPACES[0])
        assert db.check() == []


def test_nothing_is_left_in_the_bytes(db):
    secrets = ("secret name", "secret feature", "secret target", "secret neighbour")
    for number in range(30):
        secret = number % 3 == 0
        names = ("shared", *(f"secret feature {number} {i}" for i in range(50) if secret))
        record_one(
            db,
            f"{'secret name' if secret else 'public'} {number}",
            names=names,
            selected=(True,) * len(names),
            candidates=[(1, [names[-1]], 0.5)],
            settings=f"secret settings {number}" if secret else None,
        )
    with db.reading():
        pass
    db.hold("a batch")
    db.index("jsd-rows", "default")
    stale = db.path.with_name(f".{db.path.name}.1.1.new")
    stale.write_bytes(db.path.read_bytes())
    rows = db.problems().only(["name", "problem_id"]).rows
    db.forget([problem_id for name, problem_id in rows if name.startswith("secret")])
    left = [each for each in db.path.parent.rglob("*") if each.is_file()]
    assert left == [db.path]
    content = db.path.read_bytes()
    assert b"public 1" in content and not [each for each in secrets if each.encode() in content]
    assert b"secret" not in content
    assert len(db.problems().rows) == 20 and db.check() == []


def test_who_recalled_a_forgotten_problem_keeps_its_run(db):
    first = record_one(db, "first")
    near = [NeighbourRow(first.problem_id, 1, 0.25, 3.0)]
    second = record_one(db, "second", neighbours=near, settings="s")
    assert db.n_forgotten_neighbours(second.problem_id) == 0
    db.forget([first.problem_id])
    (neighbour,) = db.stored_run(second.problem_id).neighbours
    assert (neighbour.name, neighbour.distance) == ("a forgotten problem", 0.25)
    assert db.solved("print of second", "s")["neighbours"] == [neighbour]
    assert db.n_forgotten_neighbours(second.problem_id) == 1
    assert db.check() == []


def test_a_neighbour_forgotten_while_a_stream_runs_is_recorded_as_such(db):
    first = record_one(db, "first")
    record_one(db, "second")
    db.forget([first.problem_id])
    third = record_one(db, "third", neighbours=[NeighbourRow(first.problem_id, 1, 0.5)])
    assert third.problem_id > first.problem_id + 1, "no id is given twice"
    assert db.n_forgotten_neighbours(third.problem_id) == 1
    assert db.check() == []


def test_frozen_lists_lose_the_names_that_nobody_has(db):
    gone = record_one(db, "gone", names=("a", "only here"), selected=(True, True), candidates=[])
    record_one(db, "stays", names=("a",), selected=(True,), candidates=[])
    db.freeze_projection("default", "jsd-rows[2]", ["only here", "a"])
    db.forget([gone.problem_id])
    assert db.projection("default", "jsd-rows[2]") == ["a"]
    assert b"only here" not in db.path.read_bytes()


def test_forgetting_all_leaves_an_empty_memory(db):
    record_one(db, "p")
    db.forget([1])
    assert db.problems().rows == [] and db.check() == []
    record_one(db, "p")
    assert db.check() == []


def test_forgetting_nothing_changes_nothing(db):
    with pytest.raises(MetaDBMissing):
        db.forget([1])
    record_one(db, "p")
    before = db.path.read_bytes()
    db.forget([])
    assert db.path.read_bytes() == before


@pytest.mark.parametrize("renames", [0, 1])
def test_a_kill_at_any_rename_leaves_all_or_the_rest(db, renames):
    for number in range(4):
        record_one(db, f"p{number}")
    code = f"""
        import os
        from metafs_metadb import MetaDB
        replace, left = os.replace, [{renames}]
        def dying(*names):
            if not left[0]:
                os._exit(9)
            left[0] -= 1
            replace(*names)
        os.replace = dying
        MetaDB({str(db.path)!r}).forget([2])
    """
    assert subprocess.run([sys.executable, "-c", textwrap.dedent(code)]).returncode == 9
    assert len(db.problems().rows) == 4 and db.check() == []
    db.forget([2])
    assert db.problems().column("name") == ["p0", "p2", "p3"] and db.check() == []
    assert os.listdir(db.path.parent) == [db.path.name]
    assert not log.log_of(db.path).exists()
