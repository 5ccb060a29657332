import os
import subprocess
import sys
from contextlib import nullcontext
from importlib.util import find_spec

import pytest

from metafs_metadb import MetaDB, QueryRefused

from ..building import record


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    db = MetaDB(tmp_path_factory.mktemp("db") / "metafs.duckdb")
    record(db, "p")
    return db


@pytest.mark.parametrize(
    "query",
    [
        "copy run to '{folder}/run.csv'",
        "copy (select 1) to '{folder}/one.parquet'",
        "copy run from '/etc/passwd'",
        "export database '{folder}/all'",
        "attach '{folder}/other.duckdb' as other",
        "install httpfs",
        "load httpfs",
        "set threads = 1",
        "set enable_external_access = true",
        "reset enable_external_access",
        "set variable x = 1",
        "pragma memory_limit = '1GB'",
        "insert into tally values ('x', 1)",
        "update run set score = 1",
        "delete from run",
        "drop table run",
        "create table t (x integer)",
        "create temp table t (x integer)",
        "create macro m() as 1",
        "prepare x as select 1",
        "call pragma_version()",
        "begin",
        "checkpoint",
        "use memory",
        "detach metadb",
        "vacuum",
        "select 1; select 2",
        "select 1; drop table run",
        "",
        "-- nothing",
        "select * from read_csv('/etc/passwd')",
        "select * from read_text('/etc/passwd')",
        "select * from read_blob('/etc/passwd')",
        "select * from read_json('/etc/passwd')",
        "select * from parquet_scan('/etc/passwd')",
        "select * from glob('/*')",
        "select * from '/etc/passwd'",
        "select * from 'data.csv'",
        "explain analyze copy run to '{folder}/run.csv'",
        "explain analyze insert into tally values ('x', 1)",
        "explain analyze copy (select 'gone') to '{db}' (format csv, use_tmp_file false)",
        "explain analyze copy (select 'gone') to '{db}.wal' (format csv, use_tmp_file false)",
        "explain (analyze) copy (select 'gone') to '{db}' (format csv, use_tmp_file false)",
        "explain/* é */analyze copy (select 1) to '{db}' (format csv, use_tmp_file false)",
        "with x as (copy (select 1) to '{db}' (format csv, use_tmp_file false)) select 1",
        "explain analyze with x as (copy (select 1) to '{db}') select 1",
        "select (with x as (insert into tally values ('x', 1) returning 1) select * from x)",
        "explain analyze set variable x = 1",
        "explain analyze create table memory.t (x integer)",
        "explain analyze (copy run to '{folder}/run.csv')",
        "explain copy run to '{folder}/run.csv'",
        "explain",
        "select 1" + "+ 1" * 5000,
        "select nextval('run_id')",
        "select getenv('HOME')",
        "selec 1",
        "select nonsense",
        "select * from db",
        "select 1 / x from (select 'a'::integer as x)",
    ],
)
def test_refused_with_a_sentence(db, tmp_path, query):
    with pytest.raises(QueryRefused) as raised:
        list(db.sql(query.format(folder=tmp_path, db=db.path))[1])
    assert "\n" not in str(raised.value)
    assert list(tmp_path.iterdir()) == []
    assert {path.name for path in db.path.parent.iterdir()} == {
        "metafs.duckdb",
        "metafs.duckdb.wal",
    }
    assert db.check() == []


@pytest.mark.parametrize(
    "query",
    [
        "select name from problem",
        "from problem select name;",
        "with x as (select name from problem) select * from x",
        "-- a comment\nselect name from problem",
    ],
)
def test_answered(db, query):
    columns, rows = db.sql(query)
    assert columns == ("name",)
    assert list(rows) == [("p",)]


def test_describe_show_and_explain_are_reading_too(db):
    assert "run_id" in [row[0] for row in db.sql("describe run")[1]]
    assert ("problem",) in list(db.sql("show tables")[1])
    assert ("a", "BIGINT") in [row[:2] for row in db.sql("summarize select 1::bigint as a")[1]]
    for query in (
        "explain select * from run",
        "explain analyze select * from run",
        "explain /* é */ analyze from run where selector <> 'é'",
        "explain (format json) select 1",
        "explain (analyze, format json) (select 1)",
        "explain (select 1) union (select 2)",
        "explain with recursive t as (select 1 as i union select i + 1 from t where i < 3) from t",
    ):
        assert list(db.sql(query)[1]), query


def test_the_query_of_the_readme(db):
    query = (
        "select f.name, count(*) from selection join feature f using (feature_id) "
        "where selected group by 1 order by 2 desc, 1 limit 10"
    )
    assert list(db.sql(query)[1]) == [("a", 1), ("b", 1)]


def test_named_parameters(db):
    query = "select $n::integer + 1, $word"
    assert list(db.sql(query, {"n": "41", "word": "it's"})[1]) == [(42, "it's")]
    with pytest.raises(QueryRefused, match=r"needs a value for \$word: give -p word=VALUE"):
        db.sql(query, {"n": 1})
    with pytest.raises(QueryRefused, match=r"has no parameter \$other"):
        db.sql(query, {"n": 1, "word": "", "other": 2})


def test_sql_errors_are_one_line_of_what_duckdb_says(db):
    with pytest.raises(QueryRefused, match="the query failed: Table with name nowhere does not"):
        db.sql("select * from nowhere")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("from problm", 'Table with name problm does not exist! Did you mean "problem"?'),
        ("select nam from problem", 'not found in FROM clause! Candidate bindings: "name"'),
        ("from sqlite_scan('x', 'y')", "it exists in the sqlite_scanner extension."),
    ],
)
def test_a_hint_is_kept_and_the_query_is_not_repeated(db, query, said):
    with pytest.raises(QueryRefused) as raised:
        db.sql(query)
    assert said in str(raised.value)
    for noise in ("LINE", "^", "\n", "install"):
        assert noise not in str(raised.value)


def test_a_timestamp_with_time_zone_is_answered_or_explained(db):
    with pytest.raises(QueryRefused) if find_spec("pytz") is None else nullcontext() as raised:
        list(db.sql("select now()")[1])
    if raised:
        assert "cast it as in `now()::timestamp`" in str(raised.value)
    assert len(list(db.sql("select now()::timestamp")[1])) == 1


def test_a_long_answer_is_streamed_and_keeps_nobody_from_writing(db):
    _, rows = db.sql("select 1 from problem, range(25_000)")
    record(db, "p", seed=1)
    assert next(rows) == (1,)
    record(db, "p", seed=2)
    assert sum(1 for _ in rows) == 24_999


def test_a_query_sees_none_of_the_paths_of_the_database(db):
    """What the query could reach, if it could write at all, is a copy that is about to go."""
    _, rows = db.sql("select path from duckdb_databases() where path is not null")
    assert [path for (path,) in rows if str(db.path.parent) in path] == []


def test_too_much_time_and_too_much_memory_are_told(db):
    endless = "select sum(a.range * b.range) from range(10_000_000) a, range(10_000_000) b"
    with pytest.raises(QueryRefused, match=r"longer than 0\.2 seconds: .* more --seconds"):
        db.sql(endless, seconds=0.2)
    sorting = "select hash(range)::varchar as h from range(20_000_000) order by h"
    with pytest.raises(QueryRefused, match=r"more than 0\.05 GB of memory: .* more --memory"):
        list(db.sql(sorting, memory_gb=0.05)[1])
    assert {path.name for path in db.path.parent.iterdir()} == {
        "metafs.duckdb",
        "metafs.duckdb.wal",
    }


LONG_QUERY = """
import sys
from metafs_metadb import MetaDB
print("asked", flush=True)
MetaDB(sys.argv[1]).sql("select sum(a.range * b.range) from range(10_000_000) a, range(9999999) b")
"""


def test_a_long_query_of_another_process_keeps_no_writer_waiting(db, tmp_path):
    command = [sys.executable, "-c", LONG_QUERY, str(db.path)]
    folders = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=folders) as asking:
        try:
            assert asking.stdout.readline() == b"asked\n"
            while not list(tmp_path.glob("*/metafs.duckdb")):
                assert asking.poll() is None
            for seed in range(10, 20):
                record(db, "p", seed=seed)
            assert asking.poll() is None  # still at work
        finally:
            asking.kill()
    assert db.check() == []


def test_a_stream_that_fails_on_its_way_is_a_sentence(db):
    query = "select case when i < 20_000 then 1 else error('late') end from range(30_000) t(i)"
    with pytest.raises(QueryRefused, match="late"):
        list(db.sql(query)[1])
