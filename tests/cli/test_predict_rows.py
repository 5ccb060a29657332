"""`metafs predict` and `metafs transform`, in processes of their own where that matters."""

import json
import shutil

import duckdb
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import dump_svmlight_file

from metafs import Problem, solve
from metafs_metadb import MetaDB

from .running import invoke, run, start

SETTINGS = ("--selector", "infogain", "--folds", 2)


@pytest.fixture(scope="module")
def stream(tmp_path_factory):
    """Two tables that were solved with models saved, and new rows in many forms."""
    folder = tmp_path_factory.mktemp("stream")
    rng = np.random.default_rng(0)
    for name, n in (("north", 80), ("south", 80), ("new", 15)):
        frame = pd.DataFrame(
            {
                "colour": rng.choice(["red", "green", "blue"], n),
                "size": rng.normal(size=n).round(3),
                "seen": pd.Series(rng.choice(["2024-01-05", "2024-02-01"], n)),
                "zip": rng.choice(["007", "x1", "x2"], n),
            }
        )
        good = frame["size"] + (frame["colour"] == "red") > 0.4
        if name != "new":
            frame["ok"] = np.where(good, "yes", "no")
            frame["amount"] = frame["size"] * 2 + 1
            frame.loc[5, "size"] = np.nan
        frame.to_csv(folder / f"{name}.csv", index=False)
    new = pd.read_csv(folder / "new.csv", dtype={"zip": str})
    shuffled = new.assign(further=1)[["zip", "further", "size", "seen", "colour"]]
    shuffled.to_csv(folder / "new.tsv", sep="\t", index=False)
    new.to_parquet(folder / "new.parquet")
    new.to_json(folder / "new.jsonl", orient="records", lines=True)
    arff = ["@relation r", "@attribute colour {red,green,blue}", "@attribute size numeric"]
    arff += ["@attribute seen string", "@attribute zip string", "@data"]
    arff += [",".join(map(str, row)) for row in new.itertuples(index=False)]
    (folder / "new.arff").write_text("\n".join(arff) + "\n")
    models, db = folder / "models", folder / "m.duckdb"
    table = (folder / "north.csv", folder / "south.csv", "--target", "ok", "--target", "amount")
    run(
        "solve",
        "--selector",
        "climb",
        *table,
        *SETTINGS,
        "--db",
        db,
        "--save-models",
        models,
        code=0,
    )
    return folder, models, db


def read(result):
    return pd.read_csv(pd.io.common.StringIO(result.stdout))


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "jsonl", "arff"])
def test_every_format_predicts_as_python_does(stream, kind):
    folder, _, db = stream
    (found,) = (
        each
        for each in solve(
            str(folder / "north.csv"),
            target=["ok", "amount"],
            db=None,
            selector="infogain",
            folds=2,
        )
        if each.problem.endswith("ok")
    )
    new = pd.read_csv(folder / "new.csv", dtype={"zip": str})
    told = read(run("predict", "north:ok", folder / f"new.{kind}", "--db", db))
    assert list(told.columns) == ["prediction", "probability_no", "probability_yes"]
    assert told["prediction"].tolist() == found.model.predict(new).tolist()
    np.testing.assert_allclose(told.iloc[:, 1:], found.model.predict_proba(new), rtol=1e-12)


def test_another_process_without_a_metadb(stream, tmp_path):
    folder, models, db = stream
    moved = shutil.copytree(models, tmp_path / "elsewhere")
    process = start("predict", "south:amount", folder / "new.csv", "--models", moved, "--db", "no")
    out, err = process.communicate()
    assert (process.returncode, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "prediction" and len(lines) == 16
    here = run("predict", "south:amount", folder / "new.csv", "--db", db).stdout
    assert here.splitlines() == lines


def test_csv_parquet_and_json_hold_the_same(stream, tmp_path):
    folder, _, db = stream
    arguments = ("predict", "north:ok", folder / "new.csv", "--db", db)
    printed = read(run(*arguments))
    for name in ("p.csv", "p.parquet"):
        assert run(*arguments, "-o", tmp_path / name).stdout == ""
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "p.csv"), printed)
    stored = duckdb.sql(f"from '{tmp_path / 'p.parquet'}'").fetchall()
    assert [row[0] for row in stored] == printed["prediction"].tolist()
    rows = json.loads(run(*arguments, "--json").stdout)
    assert [row["probability_yes"] for row in rows] == printed["probability_yes"].tolist()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["p.csv", "p.parquet"]


def test_transform_keeps_columns_as_they_are(stream, tmp_path):
    folder, models, db = stream
    new = pd.read_csv(folder / "new.csv", dtype=str)
    told = run("transform", "north:ok", folder / "new.tsv", "--db", db)
    shown = pd.read_csv(pd.io.common.StringIO(told.stdout), dtype=str)
    assert set(shown.columns) < set(new.columns)
    pd.testing.assert_frame_equal(shown, new[list(shown.columns)])
    for kind in ("csv", "parquet"):
        arguments = ("transform", "north:ok", folder / f"new.{kind}", "--models", models)
        run(*arguments, "-o", tmp_path / f"{kind}.parquet")
        table = duckdb.sql(f"from '{tmp_path / kind}.parquet'")
        assert set(table.columns) == set(shown.columns)
        types = dict(zip(table.columns, map(str, table.types), strict=True))
        assert types.get("size", "DOUBLE") == "DOUBLE" and types.get("zip", "VARCHAR") == "VARCHAR"
    rows = json.loads(run("transform", "north:ok", folder / "new.csv", "--db", db, "--json").stdout)
    assert list(rows[0]) == [name for name in new.columns if name in shown.columns]


def test_without_a_saved_model_the_metadb_predicts_and_says_so(stream, tmp_path):
    folder, _, db = stream
    MetaDB(db).fold()
    copy = shutil.copy(db, tmp_path / "copy.duckdb")
    gone = duckdb.connect(str(copy))
    gone.execute("update saved_model set folder = 'nowhere'")
    gone.close()
    told = run("predict", "north:ok", folder / "new.csv", "--db", copy)
    assert "predicting with its linear model on all features" in told.stderr
    assert "100.0% of the norm" in told.stderr and "is not there" in told.stderr
    found = read(told)
    assert set(found["prediction"]) <= {"yes", "no"} and len(found) == 15
    by_saved = read(run("predict", "north:ok", folder / "new.csv", "--db", db))
    assert (found["prediction"] == by_saved["prediction"]).mean() > 0.7
    selected = run("transform", "north:ok", folder / "new.csv", "--db", copy).stdout
    assert selected == run("transform", "north:ok", folder / "new.csv", "--db", db).stdout


def refused(*arguments, code):
    result = invoke(*arguments)
    assert result.exit_code == code, result.output
    assert result.stdout == "" and "Traceback" not in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    return result.stderr


def test_wrong_tables_get_a_sentence(stream, tmp_path):
    folder, models, db = stream
    new = pd.read_csv(folder / "new.csv", dtype={"zip": str})

    def with_table(table, code=1, name="t.csv"):
        table.to_csv(tmp_path / name, index=False)
        arguments = ("predict", "north:ok", tmp_path / name, "--models", models)
        return refused(*arguments, code=code)

    assert "did you mean 'Size' for 'size'?" in with_table(new.rename(columns={"size": "Size"}))
    assert "lacks 1 column" in with_table(new.drop(columns="size"))
    assert "holds text in row 1, but it held numbers" in with_table(new.assign(size="big"))
    assert "duplicate column name" in with_table(pd.concat([new, new[["size"]]], axis=1))
    with_table(new, code=2, name="t.xlsx")
    for command in ("predict", "transform"):
        asked = (command, "north:ok", folder / "new.csv", "--models", models)
        refused(*asked, "-o", tmp_path / "p.xlsx", code=2)
        refused(*asked, "-o", tmp_path / "no" / "p.csv", code=2)
        refused(*asked, "-o", tmp_path / "p.csv", "--json", code=2)
        refused(command, "north:ok", folder / "none.csv", "--models", models, code=2)
        assert "did you mean" in refused(
            command, "north", folder / "new.csv", "--models", models, code=2
        )
        assert "did you mean" in refused(command, "north", folder / "new.csv", "--db", db, code=2)
        refused(command, "p", folder / "new.csv", "--db", tmp_path / "no.duckdb", code=1)
    assert not (tmp_path / "p.csv").exists()


def test_damaged_models_get_a_sentence(stream, tmp_path):
    folder, models, _ = stream
    copy = shutil.copytree(models, tmp_path / "models")
    for path in copy.iterdir():
        path.write_bytes(path.read_bytes()[:-10])
    for command in ("predict", "transform"):
        asked = (command, "north:ok", folder / "new.csv", "--models", copy)
        assert "is damaged or cut short" in refused(*asked, code=1)


def test_a_table_without_rows(stream, tmp_path):
    folder, models, _ = stream
    (tmp_path / "t.csv").write_text((folder / "new.csv").read_text().splitlines()[0] + "\n")
    for name, lines in (("predict", 1), ("transform", 1)):
        told = run(name, "north:ok", tmp_path / "t.csv", "--models", models)
        assert len(told.stdout.splitlines()) == lines


@pytest.mark.parametrize("kind", ["npz", "named.npz", "svmlight"])
def test_arrays(kind, tmp_path):
    rng = np.random.default_rng(0)
    X = csr_array((rng.random((60, 5)) < 0.4).astype(float))
    y = (X.toarray()[:, 1] + X.toarray()[:, 3] > 0).astype(int)
    names = [f"f{4 - j}" for j in range(5)] if kind == "named.npz" else None
    problem = Problem.of(X, y, feature_names=names, name="p", space="s")
    settings = {"db": tmp_path / "m.duckdb", "save_models": tmp_path / "m"}
    (found,) = solve(problem, selector="infogain", folds=2, **settings)
    path = tmp_path / f"new.{kind}"
    if kind == "svmlight":
        dump_svmlight_file(X, y, str(path), zero_based=False)
    else:
        more = {} if names is None else {"feature_names": np.array(names)}
        np.savez(path, X=X.toarray(), **more)
    told = read(run("predict", "p", path, "--db", tmp_path / "m.duckdb"))
    assert told["prediction"].astype(str).tolist() == found.model.predict(X).tolist()
    selected = read(run("transform", "p", path, "--db", tmp_path / "m.duckdb"))
    assert list(selected.columns) == list(found.model.features)
    positions = found.model.layout.positions
    np.testing.assert_array_equal(selected.to_numpy(), X.toarray()[:, positions])


def test_hostile_names_of_problems(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame((rng.random((40, 3)) < 0.5).astype(float), columns=list("abc"))
    X.to_csv(tmp_path / "new.csv", index=False)
    names = ["shop/north", "shop_north", "../x", "süß", "n" * 300]
    stream = [
        Problem.of(X, (X["a"] if i % 2 else X["b"]).to_numpy(), name=name)
        for i, name in enumerate(names)
    ]
    db = tmp_path / "m.duckdb"
    list(solve(stream, db=db, save_models=tmp_path / "m", selector="infogain", folds=2))
    assert len(list((tmp_path / "m").iterdir())) == len(names)
    for i, name in enumerate(names):
        told = read(run("predict", name, tmp_path / "new.csv", "--models", tmp_path / "m"))
        assert (told["prediction"] == (X["a"] if i % 2 else X["b"])).all()
    assert MetaDB(db).check() == []
