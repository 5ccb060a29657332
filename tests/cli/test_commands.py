"""The real command over a real MetaDB: every subcommand, as table and as JSON."""

import io
import json
import signal
import time
from pathlib import Path

import pytest

from metafs.cli.app import Commands
from metafs.cli.output import echo_json
from metafs.pipeline.solution import PHASES

from .running import invoke, run, start

QUICK = ["--budget", "100", "--folds", "2"]


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    """A MetaDB in which the first digits have been solved twice: cold, and with memory."""
    folder = tmp_path_factory.mktemp("cli")
    stream = folder / "some.toml"
    write_digits(folder, stream, pairs=[(0, 1), (0, 2), (1, 2), (3, 4), (0, 3)])
    for transfer in ("none", "guided"):
        run(
            "solve",
            "--selector",
            "climb",
            stream,
            "--db",
            folder / "m.duckdb",
            "--transfer",
            transfer,
            *QUICK,
        )
    return folder / "m.duckdb"


def write_digits(folder, stream, pairs):
    """Write pairs of digits as csv files, and a stream that lists them."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    names = [f"pixel_{j // 8}_{j % 8}" for j in range(64)]
    entries = []
    for one, two in pairs:
        rows = [
            ",".join([*(f"{value:g}" for value in x), f"digit {y}"])
            for x, y in zip(digits.data, digits.target, strict=True)
            if y in (one, two)
        ]
        path = folder / f"{one}-{two}.csv"
        path.write_text("\n".join([",".join([*names, "digit"]), *rows]) + "\n")
        entries.append(f'[[problem]]\nsource = "{path.name}"\ntarget = "digit"\n')
    stream.write_text("\n".join(entries))


def test_solve_prints_one_json_object_a_line(tmp_path, solved):
    stream = solved.parent / "some.toml"
    result = run(
        "solve", "--selector", "climb", stream, "--db", tmp_path / "m.duckdb", *QUICK, "--json"
    )
    results = [json.loads(line) for line in result.stdout.splitlines()]
    assert [each["problem"] for each in results] == ["0-1", "0-2", "1-2", "3-4", "0-3"]
    last = results[-1]
    assert list(last) == [
        "problem",
        "status",
        "features",
        "fitness",
        "score",
        "non_nested_score",
        "scoring",
        "baseline",
        "pipeline",
        "without_memory",
        "notes",
        "n_evaluations",
        "stopped",
        "neighbours",
        "transferred",
        "experience",
        "memory",
        "belief",
        "saving",
        "seconds",
        "error",
        "optimistic_score",
    ]
    assert last["optimistic_score"] == last["non_nested_score"]
    assert last["status"] == "solved"
    assert last["error"] is None
    assert set(last["seconds"]) == set(PHASES)
    assert set(last["neighbours"][0]) == {"problem", "distance"}
    assert "5 solved, 0 skipped, 0 failed" in result.stderr


def test_wave_is_the_former_name_of_batch(tmp_path, solved):
    stream = solved.parent / "some.toml"
    result = run(
        "solve",
        "--selector",
        "climb",
        stream,
        "--db",
        tmp_path / "m.duckdb",
        *QUICK,
        "--json",
        "--wave",
        5,
    )
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert [each["neighbours"] for each in found] == [[]] * 5
    assert "--wave" not in run("solve", "--selector", "climb", "--help").stdout


def test_solve_again_skips(solved):
    result = run(
        "solve", "--selector", "climb", solved.parent / "some.toml", "--db", solved, *QUICK
    )
    assert result.stdout.count("solved before") == 5
    assert "0 solved, 5 skipped" in result.stderr


def test_neighbours_share_a_digit_first(solved):
    rows = json.loads(run("neighbours", "0-1", "--db", solved, "--json").stdout)
    assert rows[0]["problem"] == "0-2"
    assert len(rows) == 4
    assert "0-2" in run("neighbours", "0-1", "--db", solved).stdout


def test_neighbours_of_what_is_not_there(solved):
    near = run("neighbours", "0-11", "--db", solved, code=2)
    assert "did you mean '0-1'" in near.stderr
    elsewhere = run("neighbours", "0-1", "--space", "zz", "--db", solved, code=2)
    assert "holds no problem named '0-1' in space 'zz': give --space default." in elsewhere.stderr
    never = run("neighbours", "0-1", "--distance", "jsd-rows", "--db", solved, code=1)
    assert "never described by 'jsd-rows', only by 'jsd-features'" in never.stderr


@pytest.mark.parametrize("command", ["problems", "runs", "features"])
def test_lists_as_table_and_json(solved, command):
    table = run(command, "--db", solved).stdout
    rows = json.loads(run(command, "--db", solved, "--json").stdout)
    assert len(table.splitlines()) == min(len(rows), 20) + 2
    # Constant pixels are left out.
    assert len(rows) == {"problems": 5, "runs": 10, "features": 61}[command]


def test_lists_show_people_what_matters_and_programs_everything(solved):
    for command, shown, left_out in (
        ("problems", "best_score", "fingerprint"),
        ("runs", "seconds", "prior_used"),
    ):
        header = run(command, "--db", solved).stdout.splitlines()[0].split()
        row = json.loads(run(command, "--db", solved, "--json").stdout)[0]
        assert shown in header and shown in row
        assert left_out not in header and left_out in row


def test_runs_show_errors_only_if_there_are_any(solved, tmp_path):
    assert "error" not in run("runs", "--db", solved).stdout.splitlines()[0]
    bad = tmp_path / "bad.csv"
    bad.write_text("a,y\n" + "".join(f"{i % 7},{i / 3}\n" for i in range(40)))
    wrong = ["--learner", "naive-bayes"]  # the target holds numbers
    run(
        "solve",
        "--selector",
        "climb",
        bad,
        "--target",
        "y",
        "--db",
        tmp_path / "m.duckdb",
        *QUICK,
        *wrong,
        code=1,
    )
    header, _, row = run("runs", "--db", tmp_path / "m.duckdb").stdout.splitlines()
    assert header.split()[-1] == "error"
    assert "failed" in row


def test_a_filter_that_matches_nothing_says_so(solved):
    for command in (
        ["runs", "--status", "failed"],
        ["problems", "--space", "zz"],
        ["features", "--space", "zz"],
    ):
        assert run(*command, "--db", solved).stderr == "nothing found.\n"
        assert run(*command, "--db", solved, "--json").stderr == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["runs", "--limit", "-1"],
        ["runs", "--limit", "0"],
        ["features", "--limit", "-3"],
        ["neighbours", "0-1", "-k", "0"],
        ["neighbours", "0-1", "-k", "-1"],
    ],
)
def test_how_many_is_at_least_one(solved, arguments):
    assert "x>=1" in run(*arguments, "--db", solved, code=2).stderr


def test_lists_can_be_narrowed(solved):
    runs = json.loads(run("runs", "--db", solved, "--problem", "0-1", "--json").stdout)
    assert {row["problem"] for row in runs} == {"0-1"}
    assert run("runs", "--db", solved, "--status", "failed", "--json").stdout == "[]\n"
    features = json.loads(run("features", "--db", solved, "--limit", "3", "--json").stdout)
    assert len(features) == 3
    chosen = json.loads(run("features", "--db", solved, "--problem", "0-1", "--json").stdout)
    best = json.loads(run("sql", "from best_run", "--db", solved, "--json").stdout)
    assert len(chosen) in {row["n_selected"] for row in best}
    assert [row["rank"] for row in chosen] == list(range(1, len(chosen) + 1))
    shown = run("features", "--db", solved)
    assert len(shown.stdout.splitlines()) == 22
    assert "the first 20 of 61" in shown.stderr


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


def test_sql_columns_of_one_name_are_all_told(solved):
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
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert time.monotonic() - begun < 5
    assert process.returncode == 130
    assert out == err == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("form", [[], ["--csv"], ["--json"]])
def test_a_full_disk_is_a_sentence(solved, form):
    with open("/dev/full", "w") as full:
        process = start("sql", "from run", "--db", solved, *form, stdout=full)
        _, err = process.communicate(timeout=30)
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


def test_db_check_and_migrate(solved):
    assert "is clean" in run("db", "check", "--db", solved).stdout
    assert json.loads(run("db", "check", "--json", "--db", solved).stdout)["clean"] is True
    assert "up to date" in run("db", "migrate", "--db", solved).stdout
    assert json.loads(run("db", "migrate", "--json", "--db", solved).stdout)["applied"] == []


def test_plugins_lists_what_each_package_offers(monkeypatch):
    rows = json.loads(run("plugins", "--json").stdout)
    climb = {"kind": "selectors", "name": "climb", "package": "metafs-automl"}
    assert climb.items() <= rows[0].items()
    only = json.loads(run("plugins", "--kind", "learners", "--json").stdout)
    assert {row["kind"] for row in only} == {"learners"}
    without = run("plugins", "--no-plugin", "climb")
    assert "climb" not in without.stdout
    assert "disabled: climb (metafs-automl)" in without.stderr


def test_a_switched_off_plugin_is_not_found(tmp_path):
    result = run(
        "solve",
        "--selector",
        "climb",
        "demo:digits",
        "--db",
        tmp_path / "m",
        "--no-plugin",
        "climb",
        code=2,
    )
    assert "no selector named 'climb'" in result.stderr


def test_selector_parameters_and_measures_by_name(tmp_path, solved):
    path = solved.parent / "0-1.csv"
    base = [
        "solve",
        "--selector",
        "climb",
        path,
        "--target",
        "digit",
        "--db",
        tmp_path / "m.duckdb",
        "--json",
        *QUICK,
    ]
    ranked = run(*base, "--selector", "infogain", "--param", "n_features_to_select=7")
    assert len(json.loads(ranked.stdout)["features"]) == 7
    climbed = run(*base, "--param", "measure=mi-confidence", "--param", "target_score=0.3")
    assert json.loads(climbed.stdout)["stopped"] == "target score reached"
    wrong = run(*base, "--param", "oops", code=2)
    assert "NAME=VALUE" in wrong.stderr


def test_several_targets_are_problems_of_their_own(tmp_path):
    path = tmp_path / "two.csv"
    rows = [f"{i % 2},{i % 3},{i % 2},{'u' if i % 3 else 'v'}" for i in range(40)]
    path.write_text("\n".join(["a,b,first,second", *rows]))
    arguments = ["--target", "first", "--target", "second", "--db", tmp_path / "m.duckdb"]
    result = run("solve", "--selector", "climb", path, *arguments, "--json", *QUICK)
    results = [json.loads(line) for line in result.stdout.splitlines()]
    assert [each["problem"] for each in results] == ["two:first", "two:second"]
    assert [set(each["features"]) for each in results] == [{"a"}, {"b"}]


def test_every_command_has_an_example_in_its_help():
    for name in Commands.MODULES:
        if name != "db":
            assert "Example: metafs" in run(name, "--help").stdout
    assert "metafs" in run("--version").stdout


def test_no_log_is_left_beside_the_memory(tmp_path):
    write_digits(tmp_path, tmp_path / "some.toml", pairs=[(0, 1), (0, 2)])
    db = tmp_path / "m.duckdb"
    worker = start("solve", tmp_path / "some.toml", "--selector", "infogain", "--db", db, *QUICK)
    assert "2 problems" in worker.communicate()[1] and worker.returncode == 0
    assert db.exists() and not db.with_name("m.duckdb.wal").exists()


def test_a_size_is_kept_exactly(tmp_path):
    write_digits(tmp_path, tmp_path / "some.toml", pairs=[(0, 1)])
    given = ("--selector", "auto", "--learner", "logistic", "--size", "3", "--keep", "pixel_1_1")
    found = run(
        "solve",
        "--selector",
        "climb",
        tmp_path / "some.toml",
        *given,
        "--json",
        "--db",
        tmp_path / "m.duckdb",
        *QUICK,
    )
    features = json.loads(found.stdout)["features"]
    assert len(features) == 3 and "pixel_1_1" in features
