"""`metafs sql`: answers in every form, and nothing but reading."""

import io
import json
import signal
import time
from pathlib import Path

import pytest

from metafs.cli.output import echo_json

from .running import invoke, run, start


def test_sql_answers_as_table_csv_and_json_with_parameters(solved):
    query = (
        "select f.name, count(*) as n from selection join feature f using (feature_id) "
        "where selected group by 1 having n >= $least order by 2 desc limit 10"
    )
    table = run("sql", query, "-p", "least=1", "--db", solved).stdout.splitlines()
    assert table[0].split() == ["name", "n"]
    csv = run("sql", query, "-p", "least=1", "--csv", "--db", solved).stdout.splitlines()
    rows = json.loads(run("sql", query, "-p", "least=1", "--json", "--db", solved).stdout)
    assert len(table) - 2 == len(csv) - 1 == len(rows) > 0
    assert all(row["name"].startswith("pixel_") for row in rows)
    assert run("sql", query, "--db", solved, code=1).stderr.count("\n") == 1


def test_a_long_table_ends_and_says_so(solved):
    query = ["sql", "select range as n from range(25_000)", "--db", solved]
    table = run(*query)
    assert len(table.stdout.splitlines()) == 1000 + 2
    assert table.stderr == "only the first 1,000 rows: --csv or --json gives all.\n"
    assert len(run(*query, "--csv").stdout.splitlines()) == 25_000 + 1
    assert len(json.loads(run(*query, "--json").stdout)) == 25_000
    whole = run("sql", "select range as n from range(1000)", "--db", solved)
    assert len(whole.stdout.splitlines()) == 1000 + 2
    assert whole.stderr == ""


def test_json_is_written_as_it_comes(monkeypatch):
    written = io.StringIO()
    monkeypatch.setattr("sys.stdout", written)

    def rows():
        yield (1,)
        assert written.getvalue() == '[\n{"a": 1}'
        yield (2,)

    echo_json(["a"], rows())
    assert json.loads(written.getvalue()) == [{"a": 1}, {"a": 2}]


def test_sql_columns_of_one_name_are_all_shown(solved):
    query = "select 1 as a, 2 as a, 3 as b"
    results = json.loads(run("sql", query, "--json", "--db", solved).stdout)
    assert results == [{"a": 1, "a_1": 2, "b": 3}]


def test_sql_prints_a_plan_as_it_is(solved):
    plan = run("sql", "explain select name from problem", "--db", solved).stdout
    assert "explain_key" not in plan and "…" not in plan
    assert len(plan.splitlines()) > 3


def test_nothing_steers_the_terminal(solved):
    query = "select 'a' || chr(27) || '[31mb' || chr(7) || chr(13) || 'c' as \"x\x1b[2Jy\""
    table = run("sql", query, "--db", solved).stdout
    assert table.split() == ["xy", "----", "ab", "c"]
    assert all(each == "\n" or each.isprintable() for each in table)


def test_ctrl_c_interrupts_a_long_query(solved, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    query = "select count(*) from range(100000000) a, range(100000) b"
    process = start("sql", query, "--db", solved)
    while process.poll() is None and not list(tmp_path.glob("*/metafs.duckdb")):
        time.sleep(0.05)
    time.sleep(0.3)  # the memory is copied; now the query begins
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130, "it ended by its own limit of time"
    assert out == err == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("form", [[], ["--csv"], ["--json"]])
def test_a_full_disk_is_a_sentence(solved, form):
    with open("/dev/full", "w") as full:
        process = start("sql", "from run", "--db", solved, *form, stdout=full)
        _, err = process.communicate(timeout=120)
    assert process.returncode == 1
    assert err == "metafs: cannot read or write the output: No space left on device\n"


@pytest.mark.parametrize(
    "query",
    [
        "copy run to 'stolen.csv'",
        "attach 'other.duckdb'",
        "select * from read_csv('secret.csv')",
        "select * from 'secret.csv'",
        "install httpfs",
        "set threads = 1",
        "set variable x = 1",
        "delete from run",
        "select 1; select 2",
        "select no_such_column from run",
    ],
)
def test_sql_refuses_whatever_could_touch_anything_else(solved, tmp_path, monkeypatch, query):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret.csv").write_text("secret\n42\n")
    result = invoke("sql", query, "--db", solved)
    assert result.exit_code in (1, 2)
    assert result.stdout == ""
    assert result.stderr.startswith("metafs: ")
    assert result.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["secret.csv"]


def test_the_views_answer(solved):
    for view in ("best_feature", "core_feature", "leaderboard", "speedup", "best_run"):
        assert json.loads(run("sql", f"from {view}", "--json", "--db", solved).stdout), view
