"""Whatever is wrong with a file or a request is one sentence that names it and what to do."""

import pandas as pd
import pytest

from metafs.data.readers import ReadOptions, sources
from metafs.errors import ProblemError, UsageError

Y = ReadOptions(targets=("y",))
HEAD = "@relation r\n@attribute a numeric\n@attribute y {u,v}\n@data\n"


def refusal(kind, path, options=Y):
    """Return the sentence with which reading everything at this path is refused."""
    with pytest.raises(kind) as caught:
        for source in sources([path], options):
            source.read()
    message = str(caught.value)
    assert "\n" not in message and message.endswith((".", "?"))
    assert not message[0].isupper()
    return message


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("p.csv", "", "is empty"),
        ("p.csv", "\n\n", "names no columns"),
        ("p.csv", "a,y\n", "has 0 rows"),
        ("p.csv", "a,y\n1,0\n", "has 1 row;"),
        ("p.csv", "y\n0\n1\n", "no feature columns"),
        ("p.csv", "a,y\n1,k\n2,k\n", "only one class"),
        ("p.csv", "a,y\n1,1.5\n2,1.5\n", "constant"),
        ("p.csv", "a,y\n1,\n2,NA\n", "'y' has no values"),
        ("p.csv", "a,b,y\n1,,0\n1,?,1\n", "no feature column has two different values"),
        ("p.csv", "a,b,a,y\n1,2,3,0\n4,5,6,1\n", "duplicate column name: 'a'"),
        (
            "p.csv",
            "a,y\n1,0\n2,1\nthree,1\n",
            "text in a numeric column: 'a' holds text in row 3",
        ),
        (
            "p.csv",
            "a;y\n1,500;0\n2,500;1\n",
            "'a' holds text in row 1, or a number",
        ),
        (
            "p.csv",
            ",a,y\n0,1,0\n1,2,1\n",
            'column 1 has no name; name it or leave it out with --drop ""',
        ),
        ("p.csv", "a,b,y\n1,2,0\n3,4\n5,6,1\n", "line 3 has 2 values where the header has 3"),
        ("p.csv", "a,b,y\n1,2,0\n3,4,5,6\n", "line 3 has 4 values where the header has 3"),
        ("p.csv", 'a,b,y\n1,2,0\n3,"4,1\n', "quote"),
        ("p.csv", b"a,b,y\n1,2,0\n3,\xe9\x01,1\n", "line 3 is not UTF-8"),
        ("p.csv", b"\x81,b,y\n1,2,0\n3,4,1\n", "line 1 is not UTF-8"),
        ("p.csv", "a,y\n".encode("utf-16-le"), "first line has NUL characters"),
        ("p.csv", "a,b,y\n1,p,0\n2,q\0,1\n", "column 'b' has a NUL character in row 2"),
        ("p.csv", "a,b,y\n1,2,0\n3\n5,6,1\n", "line 3 has 1 value where the header has 3"),
        ("p.csv.gz", "a,y\n1,0\n", "cannot be read"),
        ("p.parquet", "", "is empty"),
        ("p.parquet", "PAR1 and more PAR1", "not a whole parquet file"),
        ("p.jsonl", "", "is empty"),
        ("p.jsonl", '{"a":1,"y":0}\n{"a":\n', "not valid JSON"),
        ("p.jsonl", '{"a":1,"a":2,"y":0}\n', "duplicate column name: 'a'"),
        ("p.jsonl", '{"a":[1],"y":0}\n{"a":[2],"y":1}\n', "'a' holds lists"),
        (
            "p.jsonl",
            '{"a":{"b":1},"y":0}\n{"a":{"b":2},"y":1}\n',
            "'a' holds lists or other nested",
        ),
        ("p.jsonl", '{"a":1,"y":0}\n{"a":"x","y":1}\n', "text in a numeric column: 'a'"),
        ("p.json", "[]", "holds no JSON objects"),
        ("p.json", "[1, 2]", "holds no JSON objects"),
        ("p.arff", "", "is empty"),
        ("p.arff", "@relation r\n@attribute a numeric\n", "no @data section"),
        ("p.arff", "@relation r\nattribute a numeric\n", "line 2 is no ARFF"),
        ("p.arff", "@attribute a relational\n@data\n", "'relational', which is not understood"),
        ("p.arff", HEAD, "has 0 rows"),
        ("p.arff", "@relation r\n@data\n1\n", "declares no columns"),
        ("p.arff", HEAD + "1\n", "row 1 has 1 value for 2 attributes"),
        ("p.arff", HEAD + "1,u,2\n", "row 1 has 3 values for 2 attributes"),
        ("p.arff", HEAD + "1,u\nx,v\n", "text in a numeric column: 'a' holds text in row 2"),
        ("p.arff", HEAD + "{0 1}\n{5 1}\n", "row 2 has something else where"),
        ("p.arff", HEAD + "{0 1}\n{1}\n", "row 2 has something else where"),
    ],
)
def test_a_bad_file_is_a_problem_error(tmp_path, name, content, words):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    message = refusal(ProblemError, path)
    assert message.startswith(f"{path}: ")
    assert message.count(str(path)) == 1
    assert words in message


def test_a_truncated_parquet_file(tmp_path):
    path = tmp_path / "p.parquet"
    pd.DataFrame({"a": range(100), "y": [0, 1] * 50}).to_parquet(path)
    whole = path.read_bytes()
    for length in (4, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        assert "not a whole parquet file" in refusal(ProblemError, path)


def test_nested_parquet_columns(tmp_path):
    path = tmp_path / "p.parquet"
    nested = pd.DataFrame({"a": [{"b": 1}, {"b": 2}], "c": [[1], [2]], "d": [3, 4], "y": [0, 1]})
    nested.to_parquet(path)
    assert "'a' holds lists or other nested values" in refusal(ProblemError, path)
    options = ReadOptions(targets=("y",), drop=("a", "c"))
    assert sources([path], options)[0].read().feature_names == ("d",)


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        (
            ReadOptions(),
            UsageError,
            "say with --target which column to predict; its columns are 'a'",
        ),
        (ReadOptions(("why",)), UsageError, "no column 'why' (the target)"),
        (ReadOptions(("y",), drop=("bb",)), UsageError, "no column 'bb' (to drop)"),
        (ReadOptions(("y",), keep=("bb",)), UsageError, "no column 'bb' (to keep)"),
        (ReadOptions(("y",), keep=("a",), drop=("a",)), UsageError, "'a' is both kept and dropped"),
        (ReadOptions(("y",), drop=("y",)), UsageError, "'y' is both a target and dropped"),
        (ReadOptions(("y",), keep=("y",)), UsageError, "'y' is both a target and kept"),
        (ReadOptions(("y",), task="ranks"), UsageError, "task 'ranks' is unknown"),
    ],
)
def test_a_bad_request_of_a_good_file(tmp_path, options, kind, words):
    path = tmp_path / "p.csv"
    path.write_text("a,b,y\n1,2,0\n3,4,1\n")
    assert words in refusal(kind, path, options)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("a,b\n1,0\n2,1\n", "no column 'y' (the target); its columns are 'a', 'b'"),
        ("a,yy\n1,0\n2,1\n", "no column 'y' (the target); did you mean 'yy'?"),
        ("5.1,3.5,0\n4.9,3.0,1\n4.7,3.2,1\n", "begin with a header line"),
    ],
)
def test_a_target_that_the_only_table_lacks_is_wrong_usage(tmp_path, content, words):
    path = tmp_path / "p.csv"
    path.write_text(content)
    assert words in refusal(UsageError, path)


def test_a_target_that_no_table_has_is_told_once(tmp_path):
    for number in range(3):
        (tmp_path / f"t{number}.csv").write_text("a,left\n1,0\n2,1\n")
    (tmp_path / "unreadable.csv").write_text("")
    typo = ReadOptions(targets=("lefft",))
    results = "none of the 3 tables has a column 'lefft' (the target); did you mean 'left'?"
    assert refusal(UsageError, tmp_path, typo) == results
    assert "'z' (to drop); they have 'a', 'left'." in refusal(
        UsageError, tmp_path, ReadOptions(targets=("left",), drop=("z",))
    )
    (tmp_path / "t1.csv").write_text("a,lefft\n1,0\n2,1\n")
    assert len(sources([tmp_path], typo)) == 4
    (tmp_path / "s.toml").write_text("[[problem]]\nsource = '.'\ntarget = 'right'\n")
    assert "s.toml: problem 1: none of the" in refusal(UsageError, tmp_path / "s.toml")


def test_what_is_not_there_or_not_understood_is_wrong_usage(tmp_path):
    assert "is empty; write . for this folder" in refusal(UsageError, "")
    assert "no file or folder" in refusal(UsageError, tmp_path / "missing.csv")
    assert "did you mean 'demo:digits'" in refusal(UsageError, "demo:digit")
    assert "holds no problems" in refusal(UsageError, tmp_path)
    strange = tmp_path / "notes.txt"
    strange.write_text("hello")
    assert ".csv, .tsv, .parquet" in refusal(UsageError, strange)
    assert "holds no problems" in refusal(UsageError, tmp_path)
