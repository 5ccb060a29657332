"""When indexes are kept in files, and who uses them."""

import pickle
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from types import SimpleNamespace

import pytest

from metafs.memory.memory import Memory
from metafs_metadb import MemoryIndex, MetaDB, SqlSearch
from metafs_metadb.features import feature_sums

from ..indexing import QUERY, answers, by_sql, limits, record_run

pytestmark = pytest.mark.usefixtures("indexed")


def test_files_are_made_once_and_then_only_opened(db, monkeypatch):
    for name in ("p", "q"):
        record_run(db, name=name)
    expected = answers(db)
    folder = db.path.with_name("metafs.duckdb.index")
    assert len(list(folder.iterdir())) == 2  # sums, signatures
    assert db.check() == []

    def refuse(*arguments):
        raise AssertionError("built again")

    monkeypatch.setattr(feature_sums.FeatureSums, "_take_in", refuse)
    monkeypatch.setattr("metafs_metadb.search.structure.Structure.build", refuse)
    assert answers(MetaDB(db.path)) == expected
    assert MetaDB(db.path).kept_index("jsd", "default") is not None


def test_a_short_stream_searches_an_index_that_is_there(db):
    for name in ("p", "q"):
        record_run(db, name=name)
    memory = Memory(db, SimpleNamespace(in_sql=True))
    assert isinstance(memory.near._search("jsd", "default"), SqlSearch)
    db.index("jsd", "default")
    record_run(db, name="r")
    found = Memory(db, SimpleNamespace(in_sql=True)).near._search("jsd", "default")
    assert isinstance(found, MemoryIndex) and len(found) == 3
    assert found.nearest(*QUERY, 4) == db.search("jsd", "default").nearest(*QUERY, 4)


def test_a_small_database_has_no_index(db):
    with limits(10**6):
        record_run(db)
        answers(db)
        assert db.kept_index("jsd", "default") is None
    assert not db.path.with_name("metafs.duckdb.index").exists()


def test_a_folder_that_cannot_be_written_means_doing_without(db):
    for name in ("p", "q"):
        record_run(db, name=name)
    folder = db.path.with_name("metafs.duckdb.index")
    shutil.rmtree(folder, ignore_errors=True)
    folder.write_text("a file where the folder would be")
    for _ in range(2):
        assert answers(db) == by_sql(db)
        record_run(db, {"new 3": (1.0, True)}, "r")
    assert folder.is_file()


def test_a_metadb_goes_to_another_process_without_its_indexes(db):
    record_run(db)
    answers(db)
    there = pickle.loads(pickle.dumps(db))
    assert (there.path, there.wait_s) == (db.path, db.wait_s)
    assert answers(there) == by_sql(db)


WORKER = textwrap.dedent(
    """
    import sys
    from metafs_metadb import MetaDB
    from tests.metadb.indexing import answers, limits, record_run
    number = sys.argv[2]
    with limits(0):
        db = MetaDB(sys.argv[1], wait_s=60)
        for turn in range(3):
            record_run(db, {"a": (1.0, True), f"new {turn}": (0.5, True)}, f"p{turn * (turn % 2)}",
                 source=number * (turn % 3), score=turn / 10)
            answers(db)
    """
)


def test_several_processes_at_once(db):
    record_run(db)
    commands = [[sys.executable, "-c", WORKER, str(db.path), str(n)] for n in range(2)]
    folder = Path(__file__).parents[3]
    running = [subprocess.Popen(command, cwd=folder) for command in commands]
    assert [process.wait(timeout=120) for process in running] == [0, 0]
    expected = by_sql(db)
    assert answers(db) == expected
    assert answers(MetaDB(db.path)) == expected
    assert db.check() == []
    names = [file.name for file in db.path.with_name("metafs.duckdb.index").iterdir()]
    assert not [name for name in names if name.endswith(".new")]
