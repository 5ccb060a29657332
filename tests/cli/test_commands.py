"""The real command over a real MetaDB: every subcommand, as table and as JSON."""

import json

import pytest
from click.testing import CliRunner

from metafs.cli.app import Commands, cli
from metafs.solution import PHASES

QUICK = ["--budget", "100", "--folds", "2"]


def run(*arguments, code=0):
    result = CliRunner().invoke(cli, [str(each) for each in arguments])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    """A MetaDB in which the first digits have been solved twice: cold, and with memory."""
    folder = tmp_path_factory.mktemp("cli")
    stream = folder / "some.toml"
    write_digits(folder, stream, pairs=[(0, 1), (0, 2), (1, 2), (3, 4), (0, 3)])
    for transfer in ("none", "guided"):
        run("solve", stream, "--db", folder / "m.duckdb", "--transfer", transfer, *QUICK)
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
    result = run("solve", stream, "--db", tmp_path / "m.duckdb", *QUICK, "--json")
    told = [json.loads(line) for line in result.stdout.splitlines()]
    assert [each["problem"] for each in told] == ["0-1", "0-2", "1-2", "3-4", "0-3"]
    last = told[-1]
    assert list(last) == [
        "problem",
        "status",
        "features",
        "fitness",
        "score",
        "optimistic_score",
        "scoring",
        "n_evaluations",
        "stopped",
        "neighbours",
        "transferred",
        "seconds",
        "error",
    ]
    assert last["status"] == "solved"
    assert last["error"] is None
    assert set(last["seconds"]) == set(PHASES)
    assert set(last["neighbours"][0]) == {"problem", "distance"}
    assert "5 solved, 0 skipped, 0 failed" in result.stderr


def test_solve_again_skips(solved):
    result = run("solve", solved.parent / "some.toml", "--db", solved, *QUICK)
    assert result.stdout.count("solved before") == 5
    assert "0 solved, 5 skipped" in result.stderr


def test_neighbours_share_a_digit_first(solved):
    rows = json.loads(run("neighbours", "0-1", "--db", solved, "--json").stdout)
    assert {row["problem"] for row in rows[:3]} == {"0-2", "0-3", "1-2"}
    assert "0-2" in run("neighbours", "0-1", "--db", solved).stdout
    near = run("neighbours", "0-11", "--db", solved, code=2)
    assert "did you mean '0-1'" in near.stderr
    never = run("neighbours", "0-1", "--distance", "jsd-rows", "--db", solved, code=1)
    assert "never described by 'jsd-rows'" in never.stderr


@pytest.mark.parametrize("command", ["problems", "runs", "features"])
def test_lists_as_table_and_json(solved, command):
    table = run(command, "--db", solved).stdout
    rows = json.loads(run(command, "--db", solved, "--json").stdout)
    assert len(table.splitlines()) == len(rows) + 2
    assert len(rows) == {"problems": 5, "runs": 10, "features": 64}[command]


def test_lists_can_be_narrowed(solved):
    runs = json.loads(run("runs", "--db", solved, "--problem", "0-1", "--json").stdout)
    assert {row["problem"] for row in runs} == {"0-1"}
    assert run("runs", "--db", solved, "--status", "failed", "--json").stdout == "[]\n"
    features = json.loads(run("features", "--db", solved, "--limit", "3", "--json").stdout)
    assert len(features) == 3


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
    result = CliRunner().invoke(cli, ["sql", query, "--db", str(solved)])
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
    assert {"kind": "selectors", "name": "climb", "package": "metafs"}.items() <= rows[0].items()
    only = json.loads(run("plugins", "--kind", "learners", "--json").stdout)
    assert {row["kind"] for row in only} == {"learners"}
    without = run("plugins", "--no-plugin", "climb")
    assert "climb" not in without.stdout
    assert "disabled: climb (metafs)" in without.stderr


def test_a_switched_off_plugin_is_not_found(tmp_path):
    result = run("solve", "demo:digits", "--db", tmp_path / "m", "--no-plugin", "climb", code=2)
    assert "no selector named 'climb'" in result.stderr


def test_selector_parameters_and_measures_by_name(tmp_path, solved):
    path = solved.parent / "0-1.csv"
    base = ["solve", path, "--target", "digit", "--db", tmp_path / "m.duckdb", "--json", *QUICK]
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
    result = run("solve", path, *arguments, "--json", *QUICK)
    told = [json.loads(line) for line in result.stdout.splitlines()]
    assert [each["problem"] for each in told] == ["two:first", "two:second"]
    assert [set(each["features"]) for each in told] == [{"a"}, {"b"}]


def test_every_command_has_an_example_in_its_help():
    for name in Commands.MODULES:
        if name != "db":
            assert "Example: metafs" in run(name, "--help").stdout
    assert "metafs" in run("--version").stdout
