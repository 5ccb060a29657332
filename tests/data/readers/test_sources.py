"""Folders, demos and streams become lists of sources without reading the data."""

import os
import pickle
from io import BytesIO, StringIO
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from metafs.data.readers import ReadOptions, sources
from metafs.errors import ProblemError, UsageError

TABLE = "a,b,y,z\n1,2,0,1\n3,4,1,0\n5,6,0,0\n"


@pytest.fixture
def folder(tmp_path):
    for name in ("b.csv", "a.csv"):
        (tmp_path / name).write_text(TABLE)
    np.savez(tmp_path / "c.npz", X=np.eye(3), y=[0, 1, 0])
    (tmp_path / "README.txt").write_text("not a problem")
    (tmp_path / ".hidden.csv").write_text("")
    (tmp_path / "inner").mkdir()
    (tmp_path / "features.tsv").write_text("name\tsize\tage\nb\t2\t20\na\t1\t10\n")
    return tmp_path


def stream(folder, text):
    path = folder / "stream.toml"
    path.write_text(text)
    return path


def test_a_folder_gives_its_files_sorted(folder):
    (folder / "features.tsv").unlink()
    found = sources([folder], ReadOptions(targets=("y",)))
    assert [source.name for source in found] == ["a", "b", "c"]
    assert [source.read().n_features for source in found] == [3, 3, 3]
    assert found[0].origin == str(folder / "a.csv")


def test_listing_does_not_read(folder):
    (folder / "a.csv").write_bytes(b"\xff\x00\x01")
    first, _ = sources([folder / "a.csv", folder / "b.csv"], ReadOptions(targets=("y",)))
    with pytest.raises(ProblemError, match="not UTF-8"):
        first.read()


def test_digits_are_45_problems_in_a_stable_order():
    found = sources(["demo:digits"])
    pairs = [f"digits {low} vs {high}" for low, high in combinations(range(10), 2)]
    assert [source.name for source in found] == pairs
    problem = found[pairs.index("digits 3 vs 8")].read()
    assert problem.name == "digits 3 vs 8"
    assert problem.classes == ("3", "8")
    assert problem.space == "digits"
    assert problem.feature_names[:2] == ("pixel_0_0", "pixel_0_1")
    assert problem.feature_names[-1] == "pixel_7_7"
    assert problem.meta_features.shape == (64, 2)
    assert problem.meta_features[10].tolist() == [1, 2]
    assert problem.meta_feature_names == ("row", "column")
    assert len({source.read().fingerprint for source in found}) == 45
    assert pickle.loads(pickle.dumps(found[0])).read().fingerprint == found[0].read().fingerprint


def test_digits_obey_the_options():
    options = ReadOptions(space="s", drop=("pixel_0_0",), keep=("pixel_3_3",))
    source = sources(["demo:digits"], options)[0]
    problem = source.read()
    assert problem.space == "s"
    assert problem.n_features == len(problem.meta_features) == 63
    assert source.keep == ("pixel_3_3",)


def test_a_stream_says_how_to_read_each_problem(folder):
    path = stream(
        folder,
        """
        [[problem]]
        source = "a.csv"
        target = "y"
        name = "first"
        meta_features = "features.tsv"
        drop = ["z"]
        keep = ["a"]

        [[problem]]
        source = "b.csv"
        target = ["y", "z"]
        name = "both"
        space = "other"
        task = "numbers"

        [[problem]]
        source = "c.npz"

        [[problem]]
        source = "b.csv"
        target = "z"
        drop = "y"
        [problem.meta_features]
        a = {size = 1, age = 10}
        b = {age = 20, size = 2}
        """,
    )
    found = sources([path])
    assert [source.name for source in found] == ["first", "both:y", "both:z", "c", "b"]
    first, both_y, both_z, c, b = (source.read() for source in found)
    assert first.name == "first"
    assert first.feature_names == ("a", "b")
    assert first.meta_features.tolist() == [[1, 10], [2, 20]]
    assert first.meta_feature_names == ("size", "age")
    assert found[0].keep == ("a",)
    assert both_y.name == "both:y"
    assert both_y.feature_names == both_z.feature_names == ("a", "b")
    assert both_y.space == "other"
    assert both_y.classes is None
    assert c.n_features == 3
    assert b.meta_features.tolist() == [[1, 10], [2, 20]]
    assert pickle.loads(pickle.dumps(found[0])).read().fingerprint == first.fingerprint


def test_a_stream_may_begin_with_a_byte_order_mark(folder):
    path = stream(folder, '\ufeff[[problem]]\nsource = "demo:digits"\n')
    assert len(sources([path])) == 45


def names_of(*paths, targets=("y",)):
    found = sources(paths, ReadOptions(targets=targets))
    assert [source.read().name for source in found] == [source.name for source in found]
    return [source.name for source in found]


def test_files_of_one_stem_are_told_apart(tmp_path):
    for place in ("a/x", "b/x"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "train.csv").write_text(TABLE)
        (tmp_path / place / "train.tsv").write_text(TABLE.replace(",", "\t"))
    a, b = tmp_path / "a/x/train.csv", tmp_path / "b/x/train.csv"
    assert names_of(a) == names_of(a, a)[:1] == ["train"]
    assert names_of(a, b) == ["a/x/train", "b/x/train"]
    assert names_of(a, b, targets=("y", "z"))[1:3] == ["a/x/train:z", "b/x/train:y"]
    assert names_of(tmp_path / "a/x") == ["train.csv", "train.tsv"]
    assert len(set(names_of(tmp_path / "a/x", b))) == 3
    named = '[[problem]]\nsource = "a/x"\nname = "n"\n[[problem]]\nsource = "b/x/train.csv"\n'
    assert names_of(stream(tmp_path, named)) == ["n:train.csv", "n:train.tsv", "train"]


def test_file_names_need_not_be_utf8(tmp_path):
    table = pd.read_csv(StringIO(TABLE))
    folder = os.fsencode(tmp_path)
    for suffix in ("csv", "parquet"):
        content = BytesIO()
        table.to_csv(content, index=False) if suffix == "csv" else table.to_parquet(content)
        with open(os.path.join(folder, b"caf\xe9." + suffix.encode()), "wb") as file:
            file.write(content.getvalue())
    found = sources([tmp_path], ReadOptions(targets=("y",)))
    problems = [source.read() for source in found]
    assert [problem.name for problem in problems] == ["caf?.csv", "caf?.parquet"]
    assert problems[0].fingerprint == problems[1].fingerprint
    assert [source.origin for source in found] == [problem.source for problem in problems]
    with pytest.raises(UsageError, match="none of the 2 tables has a column 'w'"):
        sources([tmp_path], ReadOptions(targets=("w",)))
    with pytest.raises(UsageError, match=r"caf\?.csv: say with --target"):
        sources([tmp_path])


def test_the_command_line_fills_in_what_a_stream_leaves_open(folder):
    path = stream(folder, '[[problem]]\nsource = "a.csv"\n[[problem]]\nsource = "demo:digits"\n')
    found = sources([path], ReadOptions(targets=("z",), space="s"))
    assert len(found) == 46
    assert found[0].read().target == "z"
    assert found[0].read().space == found[1].read().space == "s"


@pytest.mark.parametrize(
    "given", ["{a = 1, b = 2}", "{a = [1], b = [2]}", "{b = {m0 = 2}, a = {m0 = 1}}"]
)
def test_inline_meta_features(folder, given):
    entry = f'source = "a.csv"\ntarget = "y"\ndrop = "z"\nmeta_features = {given}'
    (source,) = sources([stream(folder, f"[[problem]]\n{entry}\n")])
    assert source.read().meta_features.tolist() == [[1], [2]]
    assert source.read().meta_feature_names == ("m0",)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[problem]\n", "not valid TOML"),
        ("", "lists no problems"),
        ("problem = 3\n", "lists no problems"),
        ("problem = [3]\n", "problem 1: is not a table"),
        ('[[problems]]\nsource = "a.csv"\n', "'problems' is unknown"),
        ('[[problem]]\ntarget = "y"\n', "problem 1: has no source"),
        ('[[problem]]\nsource = "a.csv"\ntraget = "y"\n', "did you mean 'target'?"),
        ('[[problem]]\nsource = "a.csv"\ntarget = 3\n', "problem 1: target must be"),
        ('[[problem]]\nsource = "a.csv"\nname = ""\n', "problem 1: name is empty"),
        ("[[problem]]\nsource = 3\n", "problem 1: source must be text"),
        ('[[problem]]\nsource = "a.csv"\ntask = "rank"\n', "problem 1: the task 'rank' is unknown"),
        ('[[problem]]\nsource = "a.csv"\nmeta_features = 3\n', "meta_features must be"),
        ('[[problem]]\nsource = "a.csv"\nmeta_features = "no.csv"\n', "no file"),
        ('[[problem]]\nsource = "demo:digits"\n[[problem]]\nsource = "no.csv"\n', "problem 2"),
        ('[[problem]]\nsource = "a.csv"\n', "say with --target"),
        ('[[problem]]\nsource = "stream.toml"\n', "cannot be the source of another"),
        ('[[problem]]\nsource = "a.csv"\ntarget="y"\ndrop="y"\n', "both a target and dropped"),
    ],
)
def test_a_bad_stream_is_wrong_usage(folder, text, words):
    path = stream(folder, text)
    with pytest.raises(UsageError) as caught:
        sources([path])
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert words in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("{c = 1}", "no meta-features for any feature of problem 'a', such as 'a'"),
        ("{a = 1, b = [1, 2]}", "of 'b' are 2 instead of 1"),
        ("{a = 1, b = 'x'}", "of 'b' are not all numbers"),
        ("{a = {p = 1}, b = {q = 1}}", "of 'b' have other names"),
        ("'text.csv'", "'size' is text with 51 different values"),
        ("'empty.csv'", "describes no features"),
        ("'nameless.csv'", "the feature in row 2 has no name"),
        ("{}", "meta_features describe nothing"),
        ("'twice.csv'", "describes the feature 'a' 2 times"),
        ("'large.csv'", "the meta-feature 'age' of 'b' is infinite"),
        ("'narrow.csv'", "has no meta-features"),
        ("'c.npz'", "must be a table"),
    ],
)
def test_bad_meta_features_are_told_when_the_problem_is_read(folder, given, words):
    lines = [f"f{j},size {j}" for j in range(51)]
    (folder / "text.csv").write_text("\n".join(["name,size", *lines]) + "\n")
    (folder / "nameless.csv").write_text("name,size\na,1\nNA,2\n")
    (folder / "empty.csv").write_text("name,size\n")
    (folder / "twice.csv").write_text("name,size\na,1\na,2\n")
    (folder / "large.csv").write_text("name,size,age\na,1,2\nb,1,inf\n")
    (folder / "narrow.csv").write_text("name\na\nb\n")
    text = f'[[problem]]\nsource = "a.csv"\ntarget = "y"\nmeta_features = {given}\n'
    (source,) = sources([stream(folder, text)])
    with pytest.raises(ProblemError) as caught:
        source.read()
    assert words in str(caught.value)


def test_of_a_feature_that_is_not_described_nothing_is_known(folder):
    (folder / "some.csv").write_text("name,size,age\nz,,3\na,1,\n")
    for given in ("'some.csv'", "{z = {size = nan, age = 3}, a = {size = 1, age = nan}}"):
        text = f'[[problem]]\nsource = "a.csv"\ntarget = "y"\nmeta_features = {given}\n'
        (source,) = sources([stream(folder, text)])
        problem = source.read()
        known = dict(zip(problem.feature_names, problem.meta_features, strict=True))
        np.testing.assert_array_equal(known["a"], [1, np.nan])
        np.testing.assert_array_equal(known["b"], [np.nan, np.nan])
        np.testing.assert_array_equal(known["z"], [np.nan, 3])
        assert problem.meta_feature_names == ("size", "age")


def test_a_table_for_all_describes_those_that_bring_nothing_themselves(folder):
    table = folder / "kinds.csv"
    table.write_text("name,size\na,1\nb,2\nz,3\n")
    text = '[[problem]]\nsource = "a.csv"\ntarget = "y"\nmeta_features = {a = 7, b = 8, z = 9}\n'
    options = ReadOptions(targets=("y",), meta_features=table)
    own, plain = (
        each.read() for each in sources([stream(folder, text), folder / "a.csv"], options)
    )
    assert own.meta_features.tolist() == [[7], [8], [9]]
    assert plain.meta_features.tolist() == [[1], [2], [3]]
    assert plain.meta_feature_names == ("size",)


def test_a_table_for_all_that_is_not_there_is_wrong_usage(folder):
    with pytest.raises(UsageError, match=r"for meta-features, there is no file 'nowhere\.csv'"):
        sources([folder / "a.csv"], ReadOptions(("y",), meta_features=Path("nowhere.csv")))


def test_text_becomes_a_kind(folder):
    (folder / "kinds.csv").write_text("name,lab,price\na,north,1\nb,south,2\nz,,3\n")
    options = ReadOptions(targets=("y",), meta_features=folder / "kinds.csv")
    (source,) = sources([folder / "a.csv"], options)
    problem = source.read()
    assert problem.meta_feature_names == ("lab=north", "lab=south", "price")
    known = [[1, 0, 1], [0, 1, 2], [np.nan, np.nan, 3]]
    np.testing.assert_array_equal(problem.meta_features, known)


def test_features_named_by_numbers_are_found(folder):
    (folder / "numbered.csv").write_text("1,2,y\n1,2,0\n3,4,1\n5,6,0\n")
    (folder / "kinds.json").write_text('[{"f": 1, "size": 7}, {"f": 2, "size": 8}]')
    options = ReadOptions(targets=("y",), meta_features=folder / "kinds.json")
    (source,) = sources([folder / "numbered.csv"], options)
    assert source.read().meta_features.tolist() == [[7], [8]]
