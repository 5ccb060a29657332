"""One mixed table in every format is one problem."""

import gzip
import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from metafs.data.problem import Problem
from metafs.data.readers import ReadOptions, sources
from metafs.errors import ProblemError

ROWS = [
    {"amount": 1.5, "flag": True, "colour": "red", "Colour": 3, "since": "2020-01-01", "y": "yes"},
    {
        "amount": None,
        "flag": False,
        "colour": "blue",
        "Colour": 4,
        "since": "2020-02-01",
        "y": "no",
    },
    {"amount": -2.0, "flag": None, "colour": None, "Colour": 5, "since": None, "y": "yes"},
    {
        "amount": 0.1,
        "flag": True,
        "colour": "red, dark",
        "Colour": 0,
        "since": "2021-01-01",
        "y": "no",
    },
    {"amount": 7.0, "flag": True, "colour": "it's", "Colour": 0, "since": "2021-01-01", "y": None},
]
COLUMNS = list(ROWS[0])
ARFF_KINDS = {
    "amount": "numeric",
    "flag": "{true, false}",
    "colour": "string",
    "Colour": "integer",
    "since": "date 'yyyy-MM-dd'",
    "y": "{yes, no}",
}
FORMATS = ["csv", "semicolon.csv", "tsv", "csv.gz", "parquet", "jsonl", "json", "jsonl.gz", "arff"]


def delimited(columns, mark):
    def written(value):
        text = "" if value is None else str(value)
        return f'"{text}"' if mark in text else text

    lines = [mark.join(columns)] + [mark.join(written(row[c]) for c in columns) for row in ROWS]
    return "\n".join(lines) + "\n"


def arff(columns):
    def written(value):
        if value is None:
            return "?"
        text = str(value).lower() if isinstance(value, bool) else str(value)
        return "'" + text.replace("'", "\\'") + "'" if isinstance(value, str) else text

    declared = [f"@ATTRIBUTE '{column}' {ARFF_KINDS[column]}" for column in columns]
    rows = [", ".join(written(row[column]) for column in columns) for row in ROWS]
    return "\n".join(["% a comment", "@relation mixed", "", *declared, "@data", *rows]) + "\n"


def write(folder, suffix, columns):
    path = folder / f"mixed.{suffix}"
    records = [{c: row[c] for c in columns} for row in ROWS]
    lines = "".join(json.dumps(record) + "\n" for record in records)
    match suffix:
        case "csv":
            path.write_text(delimited(columns, ","))
        case "semicolon.csv":
            path.write_text(delimited(columns, ";"))
        case "tsv":
            path.write_text(delimited(columns, "\t"))
        case "csv.gz":
            path.write_bytes(gzip.compress(delimited(columns, ",").encode()))
        case "parquet":
            frame = pl.DataFrame(records).with_columns(pl.col("since").str.to_date())
            frame.write_parquet(path)
        case "jsonl":
            path.write_text(lines)
        case "json":
            path.write_text(json.dumps(records))
        case "jsonl.gz":
            path.write_bytes(gzip.compress(lines.encode()))
        case "arff":
            path.write_text(arff(columns))
    return path


def read(path, **options):
    (source,) = sources([path], ReadOptions(targets=("y",), **options))
    return source.read()


@pytest.fixture(scope="module")
def expected():
    return Problem.of(pd.DataFrame(ROWS), "y")


def test_frames_agree(expected):
    assert expected.feature_names == ("amount", "flag", "colour", "Colour", "since")
    assert expected.categories == {2: ("blue", "red", "red, dark")}
    assert expected.n_samples == 4
    assert Problem.of(pl.DataFrame(ROWS), "y").fingerprint == expected.fingerprint


@pytest.mark.parametrize("columns", [COLUMNS, COLUMNS[::-1]], ids=["as is", "reversed"])
@pytest.mark.parametrize("suffix", FORMATS)
def test_formats_agree(tmp_path, suffix, columns, expected):
    problem = read(write(tmp_path, suffix, columns))
    assert problem.fingerprint == expected.fingerprint
    assert sorted(problem.feature_names) == sorted(expected.feature_names)
    assert problem.name == ("mixed.semicolon" if suffix == "semicolon.csv" else "mixed")


@pytest.mark.parametrize("suffix", FORMATS)
def test_columns_are_dropped_and_spaces_named_in_every_format(tmp_path, suffix):
    problem = read(write(tmp_path, suffix, COLUMNS), drop=("Colour", "since"), space="shop")
    assert problem.feature_names == ("amount", "flag", "colour")
    assert problem.space == "shop"


@pytest.mark.parametrize("suffix", FORMATS)
def test_several_targets_are_several_problems_and_never_features(tmp_path, suffix):
    path = write(tmp_path, suffix, COLUMNS)
    flag, colour = sources([path], ReadOptions(targets=("flag", "Colour"), drop=("y",)))
    stem = flag.name.partition(":")[0]
    assert (flag.name, colour.name) == (f"{stem}:flag", f"{stem}:Colour")
    assert flag.read().classes == ("0", "1")
    assert flag.read().n_samples == 4
    assert flag.read().feature_names == ("amount", "colour", "since")
    assert colour.read().feature_names == ("amount", "colour", "since")


@pytest.mark.parametrize("name", ["data[1].csv", "it's.csv", "a*b?.csv", "ünï côdé.csv", "A.CSV"])
def test_paths_are_taken_literally(tmp_path, name, expected):
    (tmp_path / "data1.csv").write_text("other\n1\n")
    (tmp_path / "axbx.csv").write_text("other\n1\n")
    path = tmp_path / name
    path.write_text(delimited(COLUMNS, ","))
    assert read(path).fingerprint == expected.fingerprint


@pytest.mark.parametrize("change", ["bom", "crlf", "no last newline", "blank lines"])
def test_csv_may_be_written_in_many_ways(tmp_path, change, expected):
    text = delimited(COLUMNS, ",")
    written = {
        "bom": "\ufeff" + text,
        "crlf": text.replace("\n", "\r\n"),
        "no last newline": text.rstrip("\n"),
        "blank lines": text.replace("\n", "\n\n"),
    }[change]
    path = tmp_path / "mixed.csv"
    path.write_bytes(written.encode())
    assert read(path).fingerprint == expected.fingerprint


def test_text_far_below_numbers_is_still_seen(tmp_path):
    path = tmp_path / "late.csv"
    rows = ["1,0,a"] * 40 + ["2,0,b"] * 110 + ["x,1,a"] * 160 + ["NA,1, NA"]
    path.write_text("a,y,b\n" + "\n".join(rows) + "\n")
    problem = read(path)
    assert problem.categories == {0: ("1", "2", "x"), 1: ("a", "b")}
    assert np.isnan(problem.X[-1]).all()


def test_names_that_differ_in_case_stay_apart(tmp_path):
    csv, parquet, jsonl = (tmp_path / f"case.{suffix}" for suffix in ("csv", "parquet", "jsonl"))
    csv.write_text("a,A,a_1,y\n1,2,3,0\n4,5,6,1\n")
    pd.read_csv(csv).to_parquet(parquet)
    jsonl.write_text('{"a":1,"A":2,"a_1":3,"y":0}\n{"a":4,"A":5,"a_1":6,"y":1}\n')
    problems = [read(path) for path in (csv, parquet, jsonl)]
    assert len({problem.fingerprint for problem in problems}) == 1
    assert {problem.feature_names for problem in problems} == {("a", "A", "a_1")}
    assert problems[0].X.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_the_index_that_pandas_wrote_can_be_left_out(tmp_path):
    path = tmp_path / "indexed.csv"
    pd.DataFrame({"a": [1.5, 2.5], "y": [0, 1]}).to_csv(path)
    assert path.read_text().startswith(",a")
    assert read(path, drop=("",)).feature_names == ("a",)
    listed = tmp_path / "stream.toml"
    listed.write_text('[[problem]]\nsource = "indexed.csv"\ndrop = ""\n')
    assert read(listed).feature_names == ("a",)


def test_the_row_numbers_of_pandas_in_parquet_are_no_feature(tmp_path):
    path = tmp_path / "filtered.parquet"
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 5.0], "b": [4, 1, 2, 3], "y": list("uvuv")})
    frame[frame.a != 2.0].to_parquet(path)
    (source,) = sources([path], ReadOptions(targets=("y",)))
    problem = source.read()
    assert problem.feature_names == ("a", "b")
    assert any("'__index_level_0__'" in note for note in problem.notes)
    keeping = ReadOptions(targets=("y",), keep=("__index_level_0__",))
    (source,) = sources([path], keeping)
    assert source.read().feature_names == ("a", "b", "__index_level_0__")


def test_parquet_types(tmp_path):
    path = tmp_path / "types.parquet"
    stamps = pd.to_datetime(["2020-01-01", "2020-01-02"])
    frame = pd.DataFrame(
        {
            "stamp": stamps,
            "zoned": stamps.tz_localize("UTC"),
            "category": pd.Categorical(["u", "v"]),
            "small": np.array([1, 2], dtype=np.uint8),
            "single": np.array([0.5, np.nan], dtype=np.float32),
            "bytes": [b"p", b"q"],
            "y": [0, 1],
        }
    )
    frame.to_parquet(path)
    problem = read(path)
    assert problem.categories == {2: ("u", "v"), 5: ("p", "q")}
    np.testing.assert_array_equal(problem.X[0], [1577836800, 1577836800, 0, 1, 0.5, 0])


def test_sparse_arff_stays_sparse(tmp_path):
    path = tmp_path / "words.arff"
    path.write_text(
        "@relation w\n@attribute a numeric\n@attribute b numeric\n@attribute y {no, yes}\n@data\n"
        "{0 1.5}\n{1 2, 2 yes}\n{}\n{0 ?, 2 'yes'}\n"
    )
    problem = read(path)
    assert problem.X.toarray()[:3].tolist() == [[1.5, 0], [0, 2], [0, 0]]
    assert np.isnan(problem.X[3, 0])
    assert problem.y.tolist() == [0, 1, 0, 1]
    dense = Problem.of(problem.X.toarray(), problem.y, feature_names=["a", "b"])
    renamed = Problem.of(problem.X, problem.y, feature_names=["a", "b"])
    assert dense.fingerprint == renamed.fingerprint


def test_quotes_in_arff(tmp_path):
    path = tmp_path / "quotes.arff"
    path.write_text(
        "@relation q\n@attribute 'the text' string\n@attribute \"b c\" {'x, y', \"z\"}\n"
        "@attribute y {0, 1}\n@data\n'a, b',\"z\",0\n{0 'it\\'s', 1 'x, y', 2 1}\n\"c\", z ,0\n"
    )
    problem = read(path)
    assert problem.feature_names == ("the text", "b c")
    assert problem.categories == {0: ("a, b", "c", "it's"), 1: ("x, y", "z")}
    assert problem.X.tolist() == [[0, 1], [2, 0], [1, 1]]
    assert problem.y.tolist() == [0, 1, 0]


def test_a_source_can_be_sent_to_another_process(tmp_path, expected):
    path = write(tmp_path, "csv", COLUMNS)
    (source,) = sources([path], ReadOptions(targets=("y",), keep=("flag",)))
    sent = pickle.loads(pickle.dumps(source))
    assert sent.keep == ("flag",)
    assert sent.read().fingerprint == expected.fingerprint


def test_empty_and_constant_columns_of_a_table_are_left_out_with_a_note(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,none,same,b,kept,y\n" + "1,,7,3,5,no\n2,NA,7,4,5,yes\n" * 3)
    problem = sources([path], ReadOptions(targets=("y",), keep=("kept",)))[0].read()
    assert problem.feature_names == ("a", "b", "kept")
    assert problem.notes == (
        "left out 1 column without any value: 'none'",
        "left out 1 column with one value in all rows: 'same'",
    )
    with pytest.raises(ProblemError, match="'none', which is to be kept, has no values at all"):
        sources([path], ReadOptions(targets=("y",), keep=("none",)))[0].read()


@pytest.mark.parametrize("first", [2**63, 10**40])
def test_numbers_that_rounding_makes_equal_are_no_column_of_one_value(tmp_path, first):
    path = tmp_path / "t.csv"
    path.write_text("a,id,y\n" + "".join(f"{n},{first + n},{n % 2}\n" for n in range(6)))
    problem = sources([path], ReadOptions(targets=("y",)))[0].read()
    assert problem.feature_names == ("a",)
    assert problem.notes == ("left out 1 column of numbers too large to be told apart: 'id'",)


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.arff", "t.csv.gz"])
def test_latin_1_is_read_with_a_note(tmp_path, name):
    rows = [(i, ["chaud", "tiède"][i % 2], ["été", "hiver"][i % 2]) for i in range(8)]
    content = {
        "t.csv": "a,kind,saison\n" + "".join(f"{a},{k},{s}\n" for a, k, s in rows),
        "t.jsonl": "".join(f'{{"a":{a},"kind":"{k}","saison":"{s}"}}\n' for a, k, s in rows),
        "t.arff": "@relation r\n@attribute a numeric\n@attribute kind string\n@attribute saison "
        "{été,hiver}\n@data\n" + "".join(f"{a},{k},{s}\n" for a, k, s in rows),
    }[name.removesuffix(".gz")].encode("latin-1")
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    problem = sources([tmp_path / name], ReadOptions(targets=("saison",)))[0].read()
    assert problem.classes == ("hiver", "été")
    assert problem.categories == {1: ("chaud", "tiède")}
    assert problem.notes == ("read the text as 'Latin-1 (Windows-1252)', because it is not UTF-8",)


def test_utf_16_is_read_with_a_note(tmp_path):
    (tmp_path / "t.csv").write_bytes("a,y\n1,no\n2,oui\n3,no\n".encode("utf-16"))
    problem = sources([tmp_path / "t.csv"], ReadOptions(targets=("y",)))[0].read()
    assert (problem.classes, problem.notes[0][:25]) == (("no", "oui"), "read the text as 'UTF-16'")
