"""`metafs db forget`, `exclude`, `include`, `export`, `import`, `merge`, as commands."""

import json

import pytest

from metafs_metadb import MetaDB, NeighbourRow
from tests.metadb.building import record

from .running import invoke


@pytest.fixture
def path(tmp_path):
    db = MetaDB(tmp_path / "m.duckdb")
    first = record(db, "digits 3 vs 8")
    record(db, "digits 3 vs 9", neighbours=[NeighbourRow(first.problem_id, 1, 0.5, 2.0)])
    record(db, "words", space="text", status="failed", error="why")
    return db.path


def named(path):
    return MetaDB(path).problems().column("name")


def test_forget_shows_first_and_then_does_it(path):
    shown = invoke("db", "forget", "digits 3 vs 8", "--db", path)
    assert shown.exit_code == 0 and "nothing was changed" in shown.stderr
    assert "digits 3 vs 8" in shown.stdout and "1 problem with 1 run" in shown.stderr
    assert len(named(path)) == 3
    as_json = json.loads(invoke("db", "forget", "*", "--json", "--db", path).stdout)
    assert not as_json["done"] and sum(each["share"] for each in as_json["problems"]) == 1
    done = invoke("db", "forget", "digits 3 vs 8", "--yes", "--db", path)
    assert "1 problem forgotten" in done.stderr
    assert named(path) == ["digits 3 vs 9", "words"]
    assert "is clean" in invoke("db", "check", "--db", path).stdout
    assert "a forgotten problem" in invoke("explain", "digits 3 vs 9", "--db", path).stdout
    near = invoke("neighbours", "digits 3 vs 9", "--distance", "jsd-rows", "--db", path)
    assert "recalled forgotten problems, 1 time" in near.stderr


@pytest.mark.parametrize(
    ("conditions", "names"),
    [
        (["digits *"], ["digits 3 vs 8", "digits 3 vs 9"]),
        (["digits 3 vs [8]"], ["digits 3 vs 8"]),
        (["--source", "words.csv"], ["words"]),
        (["--space", "text"], ["words"]),
        (["--failed"], ["words"]),
        (["*", "--before", "2999-01-01", "--space", "def*"], ["digits 3 vs 8", "digits 3 vs 9"]),
        (["--after", "2000-01-01T00:00:00", "w*"], ["words"]),
    ],
)
def test_problems_are_chosen(path, conditions, names):
    found = invoke("db", "forget", *conditions, "--json", "--db", path)
    assert [each["name"] for each in json.loads(found.stdout)["problems"]] == names


@pytest.mark.parametrize(
    ("conditions", "sentence"),
    [
        ([], "say which problems to forget"),
        (["digit 3 vs 8"], "did you mean 'digits 3 vs 8'"),
        (["--space", "txet"], "did you mean 'text'"),
        (["--after", "2999-01-01"], "no problem meets all"),
    ],
)
def test_what_nothing_matches_is_a_sentence(path, conditions, sentence):
    refused = invoke("db", "forget", *conditions, "--yes", "--db", path)
    assert refused.exit_code == 2 and sentence in refused.stderr
    assert len(named(path)) == 3


def test_excluded_problems_stay_listed(path):
    assert invoke("db", "exclude", "digits 3 vs 8", "--yes", "--db", path).exit_code == 0
    assert "excluded" in invoke("problems", "--db", path).stdout
    near = invoke("neighbours", "digits 3 vs 9", "--distance", "jsd-rows", "--json", "--db", path)
    assert json.loads(near.stdout) == []
    invoke("db", "include", "digits*", "--yes", "--db", path)
    assert MetaDB(path).problems().column("excluded") == [False] * 3


def test_export_import_and_merge(path, tmp_path):
    share, target = tmp_path / "shared" / "share.duckdb", tmp_path / "all.duckdb"
    share.parent.mkdir()
    made = invoke("db", "export", share, "digits*", "--db", path)
    assert made.exit_code == 0 and "2 problems and 2 runs added" in made.stdout
    assert "2 problems and 2 runs" in invoke("db", "import", share, "--db", target).stdout
    (share.parent / "bad.duckdb").write_text("not a memory")
    done = invoke("db", "merge", share.parent, path, "--db", target)
    assert done.exit_code == 1 and "bad.duckdb is damaged" in done.stderr
    assert "1 problem and 1 run added from 3 files, 1 left out" in done.stdout
    again = invoke("db", "merge", path, "--db", target)
    assert again.exit_code == 0 and "nothing new in 1 file." in again.stdout
    (share.parent / "bad.duckdb").unlink()
    as_json = json.loads(invoke("db", "merge", share.parent, "--json", "--db", target).stdout)
    assert as_json["problems"] == 0 and as_json["files"][0]["known"] == 2
    assert sorted(named(target)) == sorted(named(path)) and MetaDB(target).check() == []
    empty = tmp_path / "empty"
    empty.mkdir()
    assert invoke("db", "merge", empty, "--db", target).exit_code == 2
