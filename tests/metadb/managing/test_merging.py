"""Merging answers as one memory that saw all, adds nothing twice, and leaves its sources alone."""

import gzip
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metafs_metadb import Carried, MetaDB, MetaDBError, NeighbourRow
from metafs_metadb.files import log
from metafs_metadb.managing import merging

from ..building import record as record_one
from ..remembering import answers, early, memories, record, remember

ASSETS = Path(__file__).parents[1] / "files" / "assets"


def merged(db, *sources):
    done = list(db.merge([Path(getattr(each, "path", each)) for each in sources]))
    assert [each.error for each in done if each.error] == []
    return [each.carried for each in done]


@settings(max_examples=3)
@given(st.lists(memories, min_size=1, max_size=3))
def test_merged_memories_answer_as_one_that_saw_all(parts):
    with tempfile.TemporaryDirectory() as folder, early():
        one, target = MetaDB(Path(folder) / "one.duckdb"), MetaDB(Path(folder) / "merged.duckdb")
        one.ensure()
        sources, place = [], 0
        for number, part in enumerate(parts):
            sources.append(MetaDB(Path(folder) / f"{number}.duckdb"))
            sources[-1].ensure()
            for run in part:
                record(sources[-1], run, place)
                record(one, run, place)
                place += 1
        before = [source.path.read_bytes() for source in sources]
        merged(target, *sources)
        assert answers(target) == answers(one)
        again = merged(target, *sources)
        assert again == [Carried(known=each.known) for each in again]
        assert answers(target) == answers(one)
        assert [source.path.read_bytes() for source in sources] == before
        assert not log.log_of(target.path).exists()


@settings(max_examples=2)
@given(memories, st.sets(st.integers(0, 6)))
def test_an_export_holds_the_chosen_problems(solved, numbers):
    with tempfile.TemporaryDirectory() as folder, early():
        db = remember(MetaDB(Path(folder) / "all.duckdb"), solved)
        rest = tuple(each for each in solved if each.problem in numbers)
        names = {each.name for each in rest}
        ids = [i for n, i in db.problems().only(["name", "problem_id"]).rows if n in names]
        share = MetaDB(Path(folder) / "share.duckdb")
        assert db.export(share.path, ids).problems == len(names)
        assert answers(share) == answers(remember(MetaDB(Path(folder) / "rest.duckdb"), rest))
        assert db.export(share.path, ids) == Carried(known=len(names))


def test_an_export_names_nobody_who_stays_behind(db, tmp_path):
    first = record_one(db, "secret first", names=("a", "secret word"), selected=(True, True))
    second = record_one(db, "second", neighbours=[NeighbourRow(first.problem_id, 1, 0.5)])
    db.freeze_projection("default", "jsd-rows[2]", ["secret word", "a"])
    db.export(tmp_path / "share.duckdb", [second.problem_id])
    share = MetaDB(tmp_path / "share.duckdb")
    assert b"secret" not in share.path.read_bytes()
    assert share.stored_run(1).neighbours[0].name == "a forgotten problem"
    assert share.projection("default", "jsd-rows[2]") == ["a"]
    with pytest.raises(MetaDBError, match="is the MetaDB itself"):
        db.export(db.path)


def test_another_run_of_a_known_problem_is_added_and_an_equal_one_is_not(tmp_path):
    one, other = MetaDB(tmp_path / "1.duckdb"), MetaDB(tmp_path / "2.duckdb")
    record_one(one, "p", settings="a")
    record_one(other, "p", settings="b", seed=8)
    record_one(other, "p", settings="a", seed=9)
    assert merged(one, other) == [Carried(0, 1, 1)]
    assert merged(one, other) == [Carried(0, 0, 1)]
    assert one.runs().column("seed") == [7, 8]
    assert one.check() == []


def test_signatures_under_another_list_stay_behind(tmp_path):
    one, other = MetaDB(tmp_path / "1.duckdb"), MetaDB(tmp_path / "2.duckdb")
    for db, name, listed in ((one, "p", ["a"]), (other, "q", ["b"])):
        record_one(db, name)
        db.freeze_projection("default", "jsd-rows[1]", listed, {f"print of {name}": ([1], [1.0])})
    merged(one, other)
    assert one.distances(1) == ["jsd-rows", "jsd-rows[1]"] and one.distances(2) == ["jsd-rows"]
    assert one.projection("default", "jsd-rows[1]") == ["a"] and one.check() == []


def test_an_unfolded_log_comes_along(db, tmp_path):
    source = MetaDB(tmp_path / "source.duckdb")
    record_one(source, "p")
    assert log.log_of(source.path).exists()
    assert merged(db, source) == [Carried(1, 1, 0)]
    assert log.log_of(source.path).exists()


def test_a_log_that_was_just_being_folded_in_is_no_obstacle(db, tmp_path):
    source = MetaDB(tmp_path / "source.duckdb")
    record_one(source, "p")
    older = log.log_of(source.path).read_bytes()
    source.fold()
    log.log_of(source.path).write_bytes(older)  # as if its removal had not come yet
    assert merged(db, source) == [Carried(1, 1, 0)]
    assert log.log_of(source.path).read_bytes() == older


def test_a_source_that_somebody_writes_to_is_merged_without_making_them_wait(db, tmp_path):
    source = MetaDB(tmp_path / "source.duckdb")
    record_one(source, "p")
    with source.writing():
        code = f"""
            from pathlib import Path
            from metafs_metadb import MetaDB
            done = list(MetaDB({str(db.path)!r}).merge([Path({str(source.path)!r})]))
            assert [each.carried.problems for each in done] == [1], done
        """
        subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)
    assert db.problems().column("name") == ["p"]


@pytest.mark.parametrize("asset", ["schema_0004", "schema_0009"])
def test_older_schemas_are_upgraded_on_a_copy(db, tmp_path, asset):
    old = tmp_path / f"{asset}.duckdb"
    old.write_bytes(gzip.decompress((ASSETS / f"{asset}.duckdb.gz").read_bytes()))
    before = old.read_bytes()
    (carried,) = merged(db, old)
    assert carried.problems > 0 and db.check() == []
    assert old.read_bytes() == before


def test_what_cannot_be_merged_is_named_and_the_rest_goes_on(db, tmp_path):
    good, newer = MetaDB(tmp_path / "good.duckdb"), MetaDB(tmp_path / "newer.duckdb")
    record_one(good, "good")
    record_one(newer, "newer")
    with newer.writing() as con:
        con.execute("insert into migration values (9999, 'future', 'x', now()::timestamp)")
    (tmp_path / "garbage.duckdb").write_bytes(b"garbage")
    lossy = MetaDB(tmp_path / "lossy.duckdb")
    record_one(lossy, "lossy")
    with lossy.writing() as con:
        con.execute("delete from selection where rank = 1")
    foreign = tmp_path / "foreign.duckdb"
    subprocess.run(
        [
            sys.executable,
            "-c",
            f"import duckdb; duckdb.connect({str(foreign)!r}).sql('create table t (i int)')",
        ],
        check=True,
    )
    done = list(
        db.merge([*sorted(tmp_path.glob("*.duckdb")), tmp_path / "missing.duckdb", tmp_path])
    )
    said = {each.path.name: each.error for each in done}
    assert said.pop("good.duckdb") is None
    assert "was written by a newer metafs" in said.pop("newer.duckdb")
    assert "is damaged or not a DuckDB file" in said.pop("garbage.duckdb")
    assert "is damaged: table selection has 2 rows where 3" in said.pop("lossy.duckdb")
    assert "is a DuckDB file but not a MetaDB" in said.pop("foreign.duckdb")
    assert "there is no MetaDB" in said.pop("missing.duckdb")
    assert "is a folder" in said.pop(tmp_path.name)
    assert said == {}
    assert all(str(each.path) in each.error for each in done if each.error)
    assert db.problems().column("name") == ["good"] and db.check() == []


def test_a_source_with_flipped_bytes_leaves_the_target_clean(db, tmp_path):
    source = MetaDB(tmp_path / "source.duckdb")
    for number in range(5):
        record_one(source, f"p{number}")
    source.fold()
    whole = source.path.read_bytes()
    record_one(db, "own")
    for place in range(5000, len(whole), len(whole) // 12):
        source.path.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        (done,) = db.merge([source.path])
        assert (done.error is None) or str(source.path) in done.error
        assert db.check() == []
    source.path.write_bytes(whole)
    merged(db, source)
    assert len(db.problems().rows) == 6 and db.check() == []


def test_the_target_is_no_source_of_itself(db):
    record_one(db, "p")
    assert merged(db, db) == []


def test_others_get_a_turn(db, tmp_path, monkeypatch):
    monkeypatch.setattr(merging, "VISIT_S", 0.0)
    monkeypatch.setattr(merging, "MOST_STAGED", 2)
    sources = [MetaDB(tmp_path / f"{number}.duckdb") for number in range(5)]
    for number, source in enumerate(sources):
        record_one(source, f"p{number}")
    assert sum(each.problems for each in merged(db, *sources)) == 5


def test_a_kill_at_any_moment_leaves_whole_problems_and_repeating_completes(db, tmp_path):
    folder = tmp_path / "shared"
    folder.mkdir()
    for number in range(12):
        source = MetaDB(folder / f"{number:02d}.duckdb")
        record_one(
            source,
            f"p{number}",
            names=tuple(f"w{number} {i}" for i in range(40)),
            selected=(True,) * 40,
            candidates=[],
        )
    code = f"""
        from pathlib import Path
        from metafs_metadb import MetaDB
        print("ready", flush=True)
        for each in MetaDB({str(db.path)!r}, 30).merge(sorted(Path({str(folder)!r}).iterdir())):
            pass
    """
    for wait_s in (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8):
        worker = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE
        )
        worker.stdout.readline()
        time.sleep(wait_s)
        worker.send_signal(signal.SIGKILL)
        worker.communicate()
        if db.exists():
            assert db.check() == []
            assert set(db.runs().column("n_selected")) <= {40}
    sources = sorted(folder.glob("*.duckdb"))
    merged(db, *sources)
    assert db.problems().column("name") == [f"p{number}" for number in range(12)]
    assert db.check() == []
