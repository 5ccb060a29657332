"""The stream builder against a plain one, and that files, functions and memory agree on it."""

import gzip
import json
import re
from itertools import combinations
from math import log2
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metafs import solve
from metafs.data.readers import sources
from metafs.errors import UsageError
from metafs_metadb import MetaDB

BENCHMARKS = Path(__file__).parent.parent.parent / "benchmarks"
TOPICS = {
    "rec/cars": "engine wheel road the a car",
    "rec/bikes": "engine wheel road the a bike",
    "sci.space": "orbit moon rocket the a launch",
    "tiny": "the a few",
}
N_TEXTS = {"rec/cars": 30, "rec/bikes": 25, "sci.space": 28, "tiny": 4}


@pytest.fixture(scope="module", autouse=True)
def streams():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)
        import streams

        yield streams


@pytest.fixture
def texts():
    """Words of each topic, common and rare ones, at random, in both cases, with what is none."""
    rng = np.random.default_rng(1)
    common = "and Of it's x 42 WITH".split()
    return {
        label: [
            " ".join(rng.choice([*TOPICS[label].split(), *common], size=5))
            + f" {chr(97 + i) * 3} {i}."
            for i in range(n)
        ]
        for label, n in N_TEXTS.items()
    }


@pytest.fixture
def collection(tmp_path, texts):
    path = tmp_path / "texts.jsonl.gz"
    write_texts(path, texts)
    return path


def write_texts(path, texts):
    with gzip.open(path, "wt", encoding="utf8") as file:
        for number in range(max(map(len, texts.values()))):
            for label in texts:
                if number < len(texts[label]):
                    split = "train" if number % 2 else "test"
                    document = {"label": label, "text": texts[label][number], "split": split}
                    file.write(json.dumps(document) + "\n")


def words_of(text):
    return {word.lower() for word in re.findall("[a-zA-Z]{2,}", text)}


def bits(present, labels):
    """Mutual information, straight from its definition."""
    n, total = len(labels), 0.0
    for v in (True, False):
        for c in set(labels):
            joint = sum(p == v and label == c for p, label in zip(present, labels, strict=True)) / n
            if joint:
                total += joint * log2(joint / (present.count(v) / n * (labels.count(c) / n)))
    return total


def plain_pairs(drawn, min_df, mi):
    for one, two in combinations(sorted(drawn), 2):
        documents = [words_of(text) for label in (one, two) for text in drawn[label]]
        labels = [label for label in (one, two) for _ in drawn[label]]
        columns = {}
        for word in sorted(set.union(*documents)):
            present = [word in document for document in documents]
            if sum(present) >= min_df and bits(present, labels) >= mi:
                columns[word] = present
        yield f"{one} vs {two}", labels, columns


@pytest.mark.parametrize(("min_df", "mi"), [(1, 0.0), (3, 0.02), (6, 0.2)])
def test_pairs_are_those_of_a_plain_builder(streams, collection, texts, min_df, mi):
    from text_stream import draw

    problems = streams.text_pairs(collection, documents=20, min_df=min_df, mi=mi, seed=3)
    drawn = draw(texts, 20, None, 3)
    assert set(drawn) == set(N_TEXTS) - {"tiny"}
    assert all(len(set(drawn[label]) - set(texts[label])) == 0 for label in drawn)
    expected = list(plain_pairs(drawn, min_df, mi))
    assert [problem.name for problem in problems] == [name for name, _, _ in expected]
    for problem, (_, labels, columns) in zip(problems, expected, strict=True):
        assert problem.feature_names == tuple(columns)
        np.testing.assert_array_equal(problem.X.toarray(), np.array(list(columns.values())).T)
        assert np.array(problem.classes)[problem.y].tolist() == labels


def test_labels_with_few_documents_are_taken_whole_if_asked_for(streams, collection):
    problems = streams.text_pairs(collection, documents=20, least=4, mi=0, min_df=1)
    assert len(problems) == 6
    assert {p.n_samples for p in problems if "tiny" in p.name} == {24}


@settings(max_examples=20, deadline=None)
@given(few=st.integers(1, 25), more=st.integers(1, 25), seed=st.integers(0, 5))
def test_a_draw_depends_on_seed_and_label_alone(few, more, seed):
    from text_stream import draw

    numbered = {label: [f"{label} {i}" for i in range(n)] for label, n in N_TEXTS.items()}
    few, more = sorted((few, more))
    drawn = draw(numbered, more, 5, seed)
    for label, texts in draw(numbered, few, 1, seed).items():
        assert len(set(texts)) == min(few, N_TEXTS[label])
        if label in drawn:
            assert texts == drawn[label][:few]


def test_another_seed_draws_other_documents(streams, collection):
    one, two = (streams.text_pairs(collection, documents=20, seed=s)[0] for s in (0, 1))
    assert one.fingerprint != two.fingerprint
    assert one.fingerprint == streams.text_pairs(collection, documents=20)[0].fingerprint


def test_some_pairs_of_one_split(streams, collection):
    whole = streams.text_pairs(collection, documents=12, split="train")
    part = streams.text_pairs(collection, documents=12, split="train", pairs=2, seed=0)
    names = [problem.name for problem in whole]
    assert [problem.name for problem in part] == [n for n in names if n in {p.name for p in part}]
    assert len(part) == 2
    assert len(whole) == 3


def test_words_are_what_the_options_say(streams, collection):
    pair = streams.text_pairs(
        collection, documents=20, min_df=1, mi=0, tokens="[a-z0-9]+", stop_words="english"
    )[0]
    assert {"x", "42", "s", "engine"} <= set(pair.feature_names)
    assert not {"the", "and", "it", "a"} & set(pair.feature_names)


def test_a_folder_holds_the_same_problems_in_the_same_order(streams, collection, tmp_path, db):
    problems = streams.text_pairs(collection, documents=20)
    streams.write_stream(problems, tmp_path / "new" / "stream")
    read = [source.read() for source in sources([tmp_path / "new" / "stream"])]
    assert [p.name for p in read] == [p.name for p in problems]
    assert [p.fingerprint for p in read] == [p.fingerprint for p in problems]
    solved = list(solve(read, db=MetaDB(db), budget=30, folds=2, selector="climb"))
    assert [solution.status for solution in solved] == ["solved"] * 3
    assert solved[1].neighbours


@pytest.fixture
def digits(tmp_path):
    """Nine pixels; classes 2 and 10, in whose order text and numbers differ, and a small one."""
    rng = np.random.default_rng(0)
    y = np.repeat([2, 10, 30], [20, 16, 3])
    X = rng.integers(0, 201, (39, 9)).astype(np.uint8)
    X[0, 0] = 200
    path = tmp_path / "figures.npz"
    np.savez(path, X=X, y=y, split=np.arange(39) % 2)
    return path


def test_pixels_have_places(streams, digits, tmp_path):
    (problem,) = streams.digit_pairs(digits, images=15, seed=1)
    assert problem.name == "figures 2 vs 10"
    assert problem.X.shape == (30, 9)
    assert problem.feature_names[5] == "pixel_1_2"
    assert problem.meta_feature_names == ("row", "column")
    assert problem.meta_features[5].tolist() == [1, 2]
    held = {tuple(row) for row in np.load(digits)["X"].tolist()}
    assert len({tuple(row) for row in problem.X.astype(int).tolist()} & held) == 30
    streams.write_stream([problem], tmp_path / "stream")
    (read,) = (source.read() for source in sources([tmp_path / "stream"]))
    assert read.fingerprint == problem.fingerprint
    np.testing.assert_array_equal(read.meta_features, problem.meta_features)


def test_pixels_may_be_black_or_white(streams, digits):
    grey, white = (streams.digit_pairs(digits, images=15, binary=b)[0].X for b in (None, 0.5))
    np.testing.assert_array_equal(white, grey >= 100)


def test_images_of_one_split(streams, digits):
    (problem,) = streams.digit_pairs(digits, images=8, split="train")
    with np.load(digits) as file:
        train = {tuple(row) for row in file["X"][file["split"] == 0].tolist()}
    assert {tuple(row) for row in problem.X.astype(int).tolist()} <= train


@pytest.fixture
def data(tmp_path, texts, streams):
    """A small file for each collection of the mixed stream, all with the same columns."""
    from mixed_stream import COLLECTIONS

    rng = np.random.default_rng(0)
    folder = tmp_path / "data"
    folder.mkdir()
    for name in COLLECTIONS:
        if name.endswith(".npz"):
            y = np.repeat([1, 2, 3, 11], 12)
            X = rng.integers(-3, 4, (48, 4)) + y[:, None]
            np.savez(folder / name, X=X, y=y, task=np.tile([0, 1, 2], 16))
        else:
            write_texts(folder / name, {**texts, "fourth": texts["sci.space"]})
    return folder


def test_unrelated_problems_share_nothing(streams, data, tmp_path, db):
    problems = streams.unrelated(data, samples=10)
    assert len(problems) == 17
    assert len({name for p in problems for name in p.feature_names}) == sum(
        p.n_features for p in problems
    )
    assert all(p.space == "default" and p.meta_features is None for p in problems)
    assert max(np.bincount(p.y).max() for p in problems) == 10
    streams.write_stream(problems, tmp_path / "stream")
    read = [source.read() for source in sources([tmp_path / "stream"])]
    assert [p.fingerprint for p in read] == [p.fingerprint for p in problems]
    solved = list(solve(read[:6], db=MetaDB(db), budget=10, folds=2, selector="climb"))
    assert [solution.neighbours for solution in solved] == [()] * 6


def test_a_second_draw_takes_other_labels_under_other_names(streams, data):
    problems = streams.unrelated(data, samples=10, draws=5)
    drawn = {"pairs": 3 + 5, "tasks": 1, "whole": 8}
    assert len(problems) == 2 * drawn["pairs"] + 3 * drawn["tasks"] + drawn["whole"]
    usps = [p for p in problems if p.name.startswith("USPS")]
    assert sorted(c for p in usps for c in p.classes) == ["1", "11", "2", "3"]
    names = [name for p in problems for name in p.feature_names]
    assert len(set(names)) == len(names)


def test_the_command_writes_and_prints_sizes(streams, collection, tmp_path, monkeypatch, capsys):
    run(streams, monkeypatch, "text", collection, tmp_path / "out", "--documents", 20, "--mi", 0.1)
    problems = streams.text_pairs(collection, documents=20, mi=0.1)
    sizes = sorted(p.n_features for p in problems)
    assert capsys.readouterr().out == (
        f"3 problems, 40 to 40 samples, features: {sizes[0]} at least, {sizes[1]} in the median, "
        f"{sizes[2]} at most\n"
    )
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [
        "1 rec_bikes vs rec_cars.npz",
        "2 rec_bikes vs sci.space.npz",
        "3 rec_cars vs sci.space.npz",
    ]
    with pytest.raises(SystemExit) as ended:
        run(streams, monkeypatch, "text", collection, tmp_path / "out", "--documents", 20)
    assert ended.value.code == 2
    assert "is not an empty folder; name a new one." in capsys.readouterr().err


def test_the_command_takes_images_and_mixtures(
    streams, digits, data, tmp_path, monkeypatch, capsys
):
    run(streams, monkeypatch, "digits", digits, tmp_path / "a", "--images", 9, "--binary", 0.5)
    assert capsys.readouterr().out.startswith("1 problems, 18 to 18 samples")
    run(streams, monkeypatch, "unrelated", data, tmp_path / "b", "--samples", 9, "--draws", 2)
    assert capsys.readouterr().out.startswith("26 problems")


def run(streams, monkeypatch, *arguments):
    monkeypatch.setattr("sys.argv", ["streams.py", *map(str, arguments)])
    streams.main()


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (b"{]", "line 1: is not JSON"),
        (b"\xff\xfe", "cannot be read as lines of JSON"),
        (b'{"label": "a", "text": "b"}\n{"label": "a"}', "line 2: holds no text"),
        (b'{"text": "b"}', "line 1: holds no label"),
        (b"[1]", "line 1: holds no text"),
        (b"", "the file is empty"),
    ],
)
def test_a_wrong_line_is_reported(streams, tmp_path, lines, sentence):
    path = tmp_path / "wrong.jsonl.gz"
    path.write_bytes(gzip.compress(lines))
    with pytest.raises(UsageError, match=sentence):
        streams.text_pairs(path)


def test_an_uncompressed_or_truncated_file_is_reported(streams, tmp_path):
    path = tmp_path / "wrong.jsonl.gz"
    whole = gzip.compress(b'{"label": "a", "text": "b"}')
    for content in (b"plain", whole[:-9]):
        path.write_bytes(content)
        with pytest.raises(UsageError, match="cannot be read as lines of JSON"):
            streams.text_pairs(path)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({}, "at least 150 documents, the largest have 30, 28; lower --documents or --least"),
        ({"documents": 20, "mi": 1.0}, "lower --min-df or --mi"),
        ({"documents": 20, "mi": -1}, "mi is a number of bits, at least 0"),
        ({"documents": 20, "split": "dev"}, "the splits are 'test', 'train'"),
        ({"documents": 20, "tokens": "("}, "the pattern '\\(' finds no words"),
        ({"documents": 20, "tokens": "[!]"}, "the pattern '\\[!\\]' finds no words"),
        ({"documents": 0}, "documents must be at least 1"),
        ({"documents": 20, "min_df": 0}, "min_df must be at least 1"),
        ({"documents": 20, "pairs": 0}, "pairs must be at least 1"),
        ({"documents": 20, "seed": -1}, "seed must be at least 0"),
    ],
)
def test_wrong_options_are_reported(streams, collection, options, sentence):
    with pytest.raises(UsageError, match=sentence):
        streams.text_pairs(collection, **options)


def test_wrong_arrays_are_reported(streams, digits, data, tmp_path):
    for options, sentence in [
        ({"images": 18}, "two classes with at least 18 images; lower --images"),
        ({"split": "valid"}, "say train or test"),
        ({"images": 5, "binary": 2}, "binary must lie between 0 and 1"),
    ]:
        with pytest.raises(UsageError, match=sentence):
            streams.digit_pairs(digits, **options)
    wrong = tmp_path / "wrong.npz"
    for arrays, sentence in [
        ({"X": np.zeros((4, 4))}, "holds no array 'y'"),
        ({"X": np.zeros((4, 4)), "y": np.zeros(3)}, "one row for each value of y"),
        ({"X": np.zeros((4, 5)), "y": np.zeros(4)}, "5 columns are not the pixels"),
    ]:
        np.savez(wrong, **arrays)
        with pytest.raises(UsageError, match=sentence):
            streams.digit_pairs(wrong)
    wrong.write_bytes(b"text")
    with pytest.raises(UsageError, match="cannot be read as npz"):
        streams.digit_pairs(wrong)
    (data / "colon.npz").unlink()
    with pytest.raises(UsageError, match=r"lacks 'colon\.npz'; add them"):
        streams.unrelated(data)
    for build in (streams.text_pairs, streams.digit_pairs):
        with pytest.raises(UsageError, match="there is no file"):
            build(tmp_path / "nowhere")
