"""The preset "paper", against the published system written out: slow, and from its definitions."""

from collections import Counter
from dataclasses import replace
from math import log2, sqrt

import numpy as np
import pytest

from metafs.data.problem import Problem
from metafs.errors import UsageError
from metafs.pipeline.loop import solve
from metafs.pipeline.presets import PRESETS, preset_named
from metafs.pipeline.settings import Settings
from metafs.plugin.registry import Registry
from metafs_metadb import MetaDB
from metafs_moses import MosesClassifier

SMALL = {"preset": "paper", "prefilter": 0.02, "budget": 60, "folds": 2, "neighbours": 3}


def information(x, y):
    """MI(x; y) in bits, from the counts of values."""
    n, pairs, xs, ys = len(y), Counter(zip(x, y, strict=True)), Counter(x), Counter(y)
    return sum(c / n * log2(c * n / (xs[a] * ys[b])) for (a, b), c in pairs.items())


def rows_of(problem, least):
    """Every row as the set of what is in it and the target as a bit; what tells enough only."""
    X, y = problem.X.tolist(), problem.y.tolist()
    told = [information([row[j] for row in X], y) for j in range(problem.n_features)]
    words = [j for j, bits in enumerate(told) if bits >= least]
    return Counter(
        (frozenset((problem.feature_names[j], row[j]) for j in words if row[j]), bit)
        for row, bit in zip(X, y, strict=True)
    )


def distance(P, Q):
    """The square root of (KLD(P, M) + KLD(Q, M)) / 2, with M half way between."""
    p, q = ({key: n / each.total() for key, n in each.items()} for each in (P, Q))
    middle = {key: (p.get(key, 0) + q.get(key, 0)) / 2 for key in p | q}
    to_middle = (each[key] * log2(each[key] / middle[key]) for each in (p, q) for key in each)
    return sqrt(max(sum(to_middle) / 2, 0))


def fitness_alone(problem, name, b=5.0, r=1.0):
    """q(s) = MI^(2 - r) c^r with c = N / (N + b)."""
    j, n = problem.feature_names.index(name), problem.n_samples
    bits = information(problem.X[:, j].tolist(), problem.y.tolist())
    return bits ** (2 - r) * (n / (n + b)) ** r


def expectation(near, name, c):
    """P_D(s) over neighbours given as (distance, quality of each selected feature)."""
    weights = [1 / (c + d**2) for d, _ in near]
    return sum(w * Q.get(name, 0) for w, (_, Q) in zip(weights, near, strict=True)) / sum(weights)


def small_stream(related, n=6):
    """Tables of six words with 30 rows, so that rows recur; the last shares no row with others."""
    stream = [
        related(number, n_samples=30).columns([f"w{j}" for j in range(6)]) for number in range(n)
    ]
    alone = replace(stream[0], X=np.where(stream[0].X, 0.0, 3.0), name="alone")
    return [*stream, alone]


@pytest.mark.parametrize(("c", "threshold"), [(0.001, 0.1), (0.5, 0.04)])
def test_neighbours_and_starts_are_those_of_the_published_formulas(db, related, c, threshold):
    stream = small_stream(related)
    solved = list(solve(stream, db=db, c=c, threshold=threshold, **SMALL))
    assert [each.status for each in solved] == ["solved"] * len(stream), solved
    n_unrelated, n_transferred = 0, 0
    for number, (problem, found) in enumerate(zip(stream, solved, strict=True)):
        own = rows_of(problem, 0.02)
        before = [(distance(own, rows_of(each, 0.02)), i) for i, each in enumerate(stream[:number])]
        before = sorted((round(d, 6), i) for d, i in before)[:3]
        assert [name for name, _ in found.neighbours] == [stream[i].name for _, i in before]
        np.testing.assert_allclose(
            [d for _, d in found.neighbours], [d for d, _ in before], atol=2e-6
        )
        near = [
            (d, {name: fitness_alone(stream[i], name) for name in solved[i].features})
            for d, i in before
        ]
        expected = {name: expectation(near, name, c) for name in problem.feature_names if near}
        started = {name for name, p in expected.items() if p >= threshold and p > 0}
        assert set(found.transferred) == started
        n_unrelated += sum(d == 1 for d, _ in before)
        n_transferred += len(started)
    assert n_unrelated > 0 and n_transferred > 0


def test_what_is_remembered_of_a_selected_feature_is_its_fitness_alone(db, related, ask):
    stream = small_stream(related, 2)
    list(solve(stream, db=db, params={"measure__b": 2.0, "measure__r": 0.5}, **SMALL))
    rows = ask(
        "select p.name, f.name, s.q, s.quality, s.selected from selection s "
        "join run using (run_id) join problem p using (problem_id) "
        "join feature f using (feature_id)"
    )
    by_name = {each.name: each for each in stream}
    for problem, name, q, quality, selected in rows:
        if q is not None:  # it passed the prefilter
            assert q == pytest.approx(fitness_alone(by_name[problem], name, 2.0, 0.5))
        assert quality == pytest.approx((q or 0.0) if selected else 0.0)
    assert any(selected for *_, selected in rows) and any(q is None for _, _, q, *_ in rows)


def test_scores_are_minus_the_number_of_errors_over_all_rows(related):
    (found,) = solve([related(0)], db=None, **SMALL)
    assert found.scoring == "neg_errors" and found.learner == "moses"
    assert found.score == int(found.score) and -related(0).n_samples <= found.score <= 0
    wrong = np.asarray(related(0).classes)[related(0).y] != found.model.predict(related(0).X)
    learner = found.model.estimator.named_steps["learn"]
    assert isinstance(learner, MosesClassifier) and learner.scores_ == [-wrong.sum()]


def test_renamed_classes_change_no_neighbour(db, tmp_path, related):
    stream = small_stream(related, 5)
    renamed = [
        replace(each, classes=("a", "b") if n % 2 else ("x", "y")) for n, each in enumerate(stream)
    ]
    one, other = (
        list(solve(each, db=path, **SMALL))
        for each, path in ((stream, db), (renamed, tmp_path / "other.duckdb"))
    )
    assert [each.neighbours for each in one] == [each.neighbours for each in other]
    assert [each.features for each in one] == [each.features for each in other]


def test_only_the_search_uses_memory(db, related):
    stream = small_stream(related, 3)
    *_, found = solve(stream, db=db, **SMALL)
    assert found.transferred
    columns = stream[-1].columns([f for f in stream[-1].feature_names if f in found.features])
    alone = MosesClassifier().fit(columns.X, columns.y)
    assert found.model.estimator.named_steps["learn"].programs_ == alone.programs_


def test_a_preset_gives_way_to_what_is_said():
    settings = Settings(**{**preset_named("paper"), "threshold": 0.3}).resolve(Registry()).settings
    assert (settings.threshold, settings.learner) == (0.3, "moses")
    with pytest.raises(UsageError, match="no preset named 'papr': did you mean paper"):
        preset_named("papr")
    with pytest.raises(TypeError):
        PRESETS["paper"]["learner"] = "forest"


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"c": 0.0}, "c must be a number above 0, not 0"),
        ({"c": float("inf")}, "c must be a number above 0, not inf"),
        ({"quality": "selctor"}, "no quality named 'selctor': did you mean selector"),
        ({"prefilter": -1.0}, "prefilter must be 0 bits or more, not -1"),
        ({"prefilter": 0.1, "learner": "auto"}, "prefilter is for a selector and a learner"),
        ({"params": {"b": 1}}, "no parameter 'b': .* Its measure has: give measure__b"),
        ({"params": {"measure__q": 1}}, "MIConfidence has no parameter 'q': it has b, r"),
        ({"params": {"measure__b": "much"}}, "cannot use b='much'"),
        ({"params": {"measure__b": -1}}, "b of mi-confidence is -1"),
        ({"selector": "infogain", "params": {"measure__b": 1}}, "no parameter 'measure__b'"),
        ({"scoring": "neg_errrs"}, "no scoring named 'neg_errrs'"),
    ],
    ids=str,
)
def test_settings_that_make_no_sense_are_refused_in_a_sentence(settings, sentence):
    with pytest.raises(UsageError, match=sentence):
        Settings(**{"selector": "climb", "learner": "moses", **settings}).resolve(Registry())


def test_errors_are_no_score_of_numbers():
    rng = np.random.default_rng(0)
    numbers = Problem.of(rng.normal(size=(30, 3)), rng.normal(size=30), feature_names=list("abc"))
    settings = {"selector": "infogain", "learner": "ridge", "scoring": "neg_errors", "folds": 2}
    (found,) = solve([numbers], db=None, **settings)
    assert found.status == "failed" and "does not suit the numeric target" in found.error


def test_what_was_recorded_is_consistent(db, related):
    list(solve(small_stream(related), db=db, **SMALL))
    assert MetaDB(db).check() == []
