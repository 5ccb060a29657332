"""`metafs features --predict` and `--meta-features`, by the real command on real files."""

import json

import numpy as np
import pytest

from metafs_metadb import MetaDB

from .running import run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two shops whose columns have other names, and a table of what each column is about."""
    folder = tmp_path_factory.mktemp("shops")
    kinds = ["column,about_money,length"]
    for shop in ("north", "south"):
        rng = np.random.default_rng(len(shop))
        X = rng.integers(0, 2, size=(80, 30))
        churned = (X[:, :6].sum(axis=1) > 3).astype(int)
        names = [f"{shop}_{j}" for j in range(30)]
        kinds += [f"{name},{int(j < 6)},{len(name)}" for j, name in enumerate(names)]
        lines = [",".join([*names, "churned"])]
        lines += [",".join(map(str, [*row, y])) for row, y in zip(X, churned, strict=True)]
        (folder / f"{shop}.csv").write_text("\n".join(lines) + "\n")
    (folder / "kinds.tsv").write_text("\n".join(kinds).replace(",", "\t") + "\n")
    (folder / "new.csv").write_text("name,about_money,length\ncolour,0,6\nprice,1,5\nodd,,\n")
    return folder


@pytest.fixture(scope="module")
def db(folder):
    path = folder / "m.duckdb"
    shops = [folder / "north.csv", folder / "south.csv"]
    options = ["--target", "churned", "--db", path, "--folds", "2", "--budget", "100"]
    run("solve", "--selector", "climb", *shops, "--meta-features", folder / "kinds.tsv", *options)
    return path


def test_solve_remembers_what_features_are_about(db):
    rows = list(MetaDB(db).sql("select name, count(*) from meta_feature group by 1 order by 1")[1])
    assert rows == [("about_money", 60), ("length", 60)]
    assert MetaDB(db).check() == []


def test_solve_says_that_columns_were_judged_by_their_kind(folder, tmp_path):
    shops = [folder / "north.csv", folder / "south.csv"]
    options = ["--target", "churned", "--db", tmp_path / "m.duckdb", "--folds", "2"]
    results = run(
        "solve", "--selector", "climb", *shops, "--meta-features", folder / "kinds.tsv", *options
    ).stdout
    assert "predicted from meta-features" in results.splitlines()[2]


def test_the_second_shop_tries_first_what_was_good_in_the_first(db):
    query = """select f.name from selection s join feature f using (feature_id)
               where expected is not null order by expected desc, f.name limit 6"""
    found = [name for (name,) in MetaDB(db).sql(query)[1]]
    assert found == [f"south_{j}" for j in range(6)]


def test_features_that_nobody_measured_are_ranked(db, folder):
    results = json.loads(
        run("features", "--predict", folder / "new.csv", "--db", db, "--json").stdout
    )
    assert results[0]["name"] == "price"
    assert list(results[0]) == ["rank", "name", "expected", "uncertainty", "n_problems", "quality"]
    assert results[0]["expected"] > results[-1]["expected"]
    assert results[0]["uncertainty"] >= 0
    shown = run("features", "--predict", folder / "new.csv", "--db", db, "--limit", "1").stdout
    assert "price" in shown and "colour" not in shown


def test_a_feature_without_any_property_is_the_average_one(db, folder):
    asked = ["features", "--predict", folder / "new.csv", "--db", db, "--json"]
    results = {each["name"]: each for each in json.loads(run(*asked).stdout)}
    query = "select avg(quality) from selection join best_run using (run_id)"
    ((average,),) = MetaDB(db).sql(query)[1]
    assert results["odd"]["expected"] == pytest.approx(average)
    assert results["odd"]["uncertainty"] > 0


def test_columns_that_memory_does_not_know_are_named(db, folder, tmp_path):
    (tmp_path / "more.csv").write_text("name,about_money,ink\nprice,1,3\n")
    result = run("features", "--predict", tmp_path / "more.csv", "--db", db)
    assert "not used, because the memory does not know it: 'ink'." in result.stderr


def test_other_meta_features_are_another_run(folder, tmp_path):
    """Solving again with a table, or with a better one, is not skipped."""
    (tmp_path / "more.csv").write_text("name,size\nnorth_0,1\n")
    asked = [
        "solve",
        "--selector",
        "climb",
        folder / "north.csv",
        "--target",
        "churned",
        "--db",
        tmp_path / "m.duckdb",
    ]
    asked += ["--folds", "2", "--budget", "20"]
    assert "1 solved" in run(*asked).stderr
    for table in (folder / "kinds.tsv", tmp_path / "more.csv"):
        assert "1 solved" in run(*asked, "--meta-features", table).stderr
        assert "1 skipped" in run(*asked, "--meta-features", table).stderr
    assert "1 skipped" in run(*asked).stderr
    assert MetaDB(tmp_path / "m.duckdb").check() == []


def test_a_regressor_can_be_chosen(db, folder):
    asked = ["features", "--predict", folder / "new.csv", "--db", db, "--json", "--regressor"]
    results = json.loads(run(*asked, "knn").stdout)
    assert results[0]["name"] == "price"
    assert "did you mean knn" in run(*asked, "kn", code=2).stderr


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--predict", "nowhere.csv"], 2, "for meta-features, there is no file 'nowhere.csv'"),
        (["--predict", "."], 2, "is a folder"),
        (["--predict", "header.csv"], 1, "describes no features"),
        (["--predict", "new.csv", "--problem", "north"], 2, "choose one"),
        (["--regressor", "knn"], 2, "needs --predict TABLE"),
        (["--predict", "text.csv"], 1, "'about_money=yes', are others than those that space"),
        (["--predict", "other.csv"], 1, "'colour', are others than those that space 'default'"),
        (["--predict", "new.csv", "--space", "none"], 2, "only in 'default'"),
        (["--predict", "new.csv", "--db", "nothing.duckdb"], 1, "nothing.duckdb"),
    ],
)
def test_what_cannot_be_predicted_is_a_sentence(db, folder, monkeypatch, arguments, code, words):
    monkeypatch.chdir(folder)
    (folder / "header.csv").write_text("name,about_money\n")
    (folder / "text.csv").write_text("name,about_money\nprice,yes\n")
    (folder / "other.csv").write_text("name,colour\nprice,3\n")
    result = run("features", "--db", db, *arguments, code=code)
    assert words in result.stderr
    assert "Traceback" not in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_table_that_describes_nothing_fails_the_problem_and_the_rest_goes_on(folder, tmp_path):
    (tmp_path / "south only.csv").write_text("name,size\nsouth_0,1\n")
    shops = [folder / "north.csv", folder / "south.csv"]
    options = ["--target", "churned", "--db", tmp_path / "m.duckdb", "--folds", "2"]
    result = run(
        "solve",
        "--selector",
        "climb",
        *shops,
        "--meta-features",
        tmp_path / "south only.csv",
        *options,
        "--json",
        code=1,
    )
    results = [json.loads(line) for line in result.stdout.splitlines()]
    assert [each["status"] for each in results] == ["failed", "solved"]
    assert "gives no meta-features for any feature of problem 'north'" in results[0]["error"]
