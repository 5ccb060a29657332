"""`metafs solve` over a real MetaDB: what it prints, skips and refuses, and what its options do."""

import json

from metafs.pipeline.solution import PHASES

from .running import QUICK, run, start, write_digits


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
