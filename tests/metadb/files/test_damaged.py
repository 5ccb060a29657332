"""A damaged schema, or what could never be a file, is a sentence of every command."""

import os
import subprocess

import duckdb
import pytest

from metafs_metadb import MetaDB

from ...cli.running import COMMAND, invoke
from ..building import record


def commands(db, folder):
    (folder / "t.csv").write_text("a,b,y\n" + "1,2,p\n3,4,q\n" * 10)
    yield "db", "check", "--db", db
    yield "db", "migrate", "--db", db
    yield (
        "solve",
        "--selector",
        "climb",
        folder / "t.csv",
        "--target",
        "y",
        "--budget",
        "10",
        "--db",
        db,
    )


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("drop table neighbour", "table neighbour is missing"),
        ("alter table meta_feature drop column value", "column value of meta_feature is missing"),
        ("drop view best_run", "view best_run is missing"),
        ("delete from migration where number = 2", "lacks 0002_views"),
    ],
)
def test_a_damaged_schema_is_a_sentence_of_every_command(tmp_path, damage, said):
    db = MetaDB(tmp_path / "metafs.duckdb")
    record(db, "p")
    with duckdb.connect(str(db.path)) as con:
        con.execute(damage)
    for command in commands(db.path, tmp_path):
        done = invoke(*command)
        assert done.exit_code in (1, 2) and isinstance(done.exception, SystemExit)
        assert said in done.output and len(done.output.splitlines()) == 1


def test_a_table_that_is_dropped_meanwhile_is_a_sentence(tmp_path):
    db = MetaDB(tmp_path / "metafs.duckdb")
    record(db, "p")
    with duckdb.connect(str(db.path)) as con:
        con.execute("drop table problem")
    done = invoke("problems", "--db", db.path)
    assert done.exit_code == 1 and "is damaged" in done.output and "db check" in done.output


@pytest.mark.parametrize("what", ["device", "dangling", "looping"])
def test_what_is_no_regular_file_is_refused(tmp_path, what):
    path = tmp_path / "it.duckdb"
    if what == "device":
        path = "/dev/zero"
    else:
        path.symlink_to(path if what == "looping" else tmp_path / "nowhere")
    for command in (*commands(path, tmp_path), ("sql", "from run", "--db", path)):
        done = invoke(*command)
        assert done.exit_code in (1, 2) and isinstance(done.exception, SystemExit)
        assert str(path) in done.output and len(done.output.splitlines()) == 1
    assert not (tmp_path / "nowhere").exists()


def test_a_pipe_is_refused_without_waiting_for_a_writer(tmp_path):
    path = tmp_path / "it.duckdb"
    os.mkfifo(path)
    command = [*COMMAND, "db", "check", "--db", str(path)]
    done = subprocess.run(command, capture_output=True, timeout=120)
    assert done.returncode == 1
    assert b"is a pipe" in done.stderr and done.stderr.count(b"\n") == 1
    for others in commands(path, tmp_path):
        assert "is a pipe" in invoke(*others).output
