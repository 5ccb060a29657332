"""The builder of collections, on a small tree that is made here."""

import json
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from metafs import solve
from metafs.errors import UsageError

BENCHMARKS = Path(__file__).parent.parent.parent / "benchmarks"
TREE = {
    ("Top",): ["welcome here"],
    ("Top", "Arts"): ["painting"],
    ("Top", "Arts", "Music"): [f"violin concert {n % 3}aa" for n in range(8)],
    ("Top", "Arts", "Film"): [f"camera concert {n % 2}bb" for n in range(6)],
    ("Top", "Science", "Maths"): [f"theorem proof {n % 3}cc" for n in range(7)],
    ("Top", "Science", "Physics"): [f"quantum proof {n % 2}dd" for n in range(9)],
}


@pytest.fixture(scope="module")
def techtc():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)
        import techtc

        yield techtc


def written(folder):
    for category, texts in TREE.items():
        place = folder.joinpath(*category)
        place.mkdir(parents=True, exist_ok=True)
        for number, text in enumerate(texts):
            (place / f"{number}.txt").write_text(text)
    return folder


def reference_pairs(least, positive, negative):
    """All pairs of categories, from the definition: by the documents of each, as strings."""
    everything = {"/".join(c[:n]) for c in TREE for n in range(1, len(c) + 1)}
    holds = {
        c: [
            t
            for own, texts in TREE.items()
            for t in texts
            if f"{'/'.join(own)}/".startswith(f"{c}/")
        ]
        for c in everything
    }
    large = [c for c in everything if len(holds[c]) >= least]
    return {
        frozenset((a, b))
        for a, b in combinations(large, 2)
        if not f"{a}/".startswith(f"{b}/")
        and not f"{b}/".startswith(f"{a}/")
        and any(x.startswith(positive) and y.startswith(negative) for x, y in ((a, b), (b, a)))
    }


def test_a_folder_and_lines_of_json_are_the_same_tree(techtc, tmp_path):
    lines = [
        json.dumps({"label": ".".join(category), "text": text})
        for category, texts in TREE.items()
        for text in texts
    ]
    (tmp_path / "tree.jsonl").write_text("\n".join(lines))
    assert techtc.read_tree(tmp_path / "tree.jsonl", ".") == TREE
    read = techtc.read_tree(written(tmp_path / "tree"))
    assert {category: sorted(texts) for category, texts in read.items()} == {
        category: sorted(texts) for category, texts in TREE.items()
    }


@pytest.mark.parametrize(
    ("least", "positive", "negative"), [(1, "", ""), (6, "", ""), (7, "Top/Arts", "Top/Science")]
)
def test_pairs_are_all_those_of_which_neither_holds_the_other(techtc, least, positive, negative):
    sides = {"positive": positive, "negative": negative}
    tops = {side: tuple(filter(None, name.split("/"))) for side, name in sides.items()}
    found = techtc.collection(TREE, least=least, size=99, mi=0.0, **tops)
    pairs = [tuple(each.name.split(" vs ")) for each in found]
    assert {frozenset(pair) for pair in pairs} == reference_pairs(least, positive, negative)
    assert len(pairs) == len(set(map(frozenset, pairs)))
    for one, other in pairs if positive else ():
        assert one.startswith(positive) and other.startswith(negative)


def test_a_data_set_has_the_words_of_its_documents_and_its_category_as_target(techtc):
    sides = {"positive": ("Top", "Science"), "negative": ("Top", "Arts")}
    found = techtc.collection(TREE, least=6, documents=6, size=99, mi=0.2, **sides)
    by_name = {each.name: each for each in found}
    problem = by_name["Top/Science/Maths vs Top/Arts/Music"]
    assert problem.classes == ("negative", "positive") and problem.n_samples == 12
    X = problem.X.toarray()
    for word, positive in (("theorem", True), ("violin", False)):
        column = X[:, problem.feature_names.index(word)]
        assert column.tolist() == (problem.y == int(positive)).astype(float).tolist()
    assert "welcome" not in problem.feature_names
    whole = by_name["Top/Science vs Top/Arts"]
    assert {"theorem", "quantum"} & set(whole.feature_names) or "proof" in whole.feature_names


def test_the_same_seed_gives_the_same_collection_and_another_one_another(techtc):
    def made(seed):
        return [
            (each.name, each.fingerprint)
            for each in techtc.collection(TREE, least=1, size=5, documents=4, mi=0.0, seed=seed)
        ]

    assert made(0) == made(0) != made(1)
    assert len(made(0)) == 5


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"positive": ("Top", "Sport"), "least": 1}, "below 'Top/Sport' has 1 documents"),
        ({"least": 99}, "has 99 documents: lower --least"),
        ({"size": 0}, "size must be at least 1"),
        ({"positive": ("Top", "Arts", "Film"), "negative": ("Top", "Arts", "Film"), "least": 1},
         "no two categories"),
    ],
    ids=str,
)  # fmt: skip
def test_what_makes_no_collection_is_refused_in_a_sentence(techtc, options, sentence):
    with pytest.raises(UsageError, match=sentence):
        techtc.collection(TREE, **options)


def test_the_script_writes_a_folder_that_is_solved_as_published(tmp_path):
    script = [sys.executable, str(BENCHMARKS / "techtc.py")]
    out = tmp_path / "collection"
    options = ["--least", "6", "--positive", "Top/Arts", "--negative", "Top/Science"]
    done = subprocess.run(
        [*script, str(written(tmp_path / "tree")), str(out), *options],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("9 problems") and "only 9 data sets" in done.stderr
    solved = list(solve(out, db=tmp_path / "m.duckdb", preset="paper", budget=50, folds=2))
    assert {each.status for each in solved} == {"solved"} and len(solved) == 9
    again = subprocess.run(
        [*script, str(tmp_path / "none"), str(out)], capture_output=True, text=True
    )
    assert (
        again.returncode == 2 and again.stderr.startswith("techtc: ") and "\n" == again.stderr[-1]
    )
    assert np.isfinite([each.score for each in solved]).all()
