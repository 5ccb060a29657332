"""Explanations against a replay of the whole memory, run by run, in plain loops."""

from dataclasses import replace

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_selection import SelectKBest

from metafs import Problem, Registry, solve
from metafs.errors import MetafsError, UsageError
from metafs.memory.best_runs import experiences as recalled
from metafs.memory.explaining import explain, explanation, shown
from metafs.transfer.expectation import TRANSFERS, Experience, expect
from metafs.transfer.explanation import LEFT_OUT, NOT_KEPT, NOT_SELECTED, SELECTED, sentences
from metafs_metadb import FeatureHistory, MetaDB, Neighbour, StoredRun

REGISTRY = Registry()
QUICK = {"selector": "climb", "budget": 60, "folds": 2, "registry": REGISTRY}
ROWS = """
select r.run_id, r.problem_id, r.score, r.n_evaluations, f.name, s.q, s.quality, s.selected,
    s.expected
from run r join selection s using (run_id) join feature f using (feature_id)
order by r.run_id
"""


def problem(number, n_features=9):
    """Problems over common words; each lacks two of them, which others have."""
    rng = np.random.default_rng(number)
    X = (rng.random((50, n_features)) < 0.4).astype(float)
    useful = number % 3
    y = np.where(X[:, useful] + X[:, useful + 1] >= 1, "yes", "no")
    names = [f"w{(j + number // 2) % (n_features + 2)}" for j in range(n_features)]
    return Problem.of(X, y, feature_names=names, name=f"p{number}", source=f"p{number}.csv")


@pytest.fixture(scope="module", params=["guided", "paper"])
def memory(request, tmp_path_factory):
    """Six problems, solved twice with different seeds: the best run may change afterwards."""
    db = MetaDB(tmp_path_factory.mktemp("memory") / "m.duckdb")
    for seed in (0, 1):
        list(
            solve([problem(n) for n in range(6)], db=db, transfer=request.param, seed=seed, **QUICK)
        )
    return db, request.param


def rows(db, query):
    with duckdb.connect(str(db.path), read_only=True) as con:
        return con.execute(query).fetchall()


def explanation_of(db, name, feature=None, **options):
    return explain(db, db.find_problem(name), feature, **options)


def whole_explanation(db, name, run_id=None):
    """Explain every feature of a run, also those of which nothing was expected."""
    result = db.stored_run(db.find_problem(name)["problem_id"], run_id)
    asked = [each.problem_id for each in result.neighbours]
    near = recalled(result.neighbours, db.experience(asked, before=result.run["run_id"]))
    history = db.history_before(result.run, result.names)
    return explanation(result, range(len(result.names)), near, history)


def replay(db, transfer):
    """Yield for each run and feature the parts of its expectation, from all earlier runs."""
    runs = {}
    for run_id, problem_id, score, n_evaluations, name, q, quality, selected, expected in rows(
        db, ROWS
    ):
        run = runs.setdefault(run_id, {"problem": problem_id, "rows": {}})
        run["order"] = (score, -n_evaluations, run_id)
        run["rows"][name] = (q, quality, selected, expected)
    asked = rows(db, "select run_id, problem_id, distance from neighbour order by run_id, rank")
    for run_id, run in runs.items():
        best = {}
        for earlier, other in runs.items():
            if earlier < run_id:
                here = best.get(other["problem"])
                if here is None or other["order"] > here["order"]:
                    best[other["problem"]] = other
        near = [(other, d) for asking, other, d in asked if asking == run_id]
        total = sum(1 / (0.001 + d**2) for _, d in near)
        total += 1 / 1.001 if transfer == "guided" else 0
        for name, (_, _, _, expected) in run["rows"].items():
            parts = []
            for other, d in near:
                there = best[other]["rows"]
                worth = 0.0
                if name in there:
                    q, quality, selected, _ = there[name]
                    top = max(row[0] for row in there.values())
                    worth = 0.8 * selected + 0.2 * q / top if transfer == "guided" else quality
                parts.append(worth / (0.001 + d**2) / total)
            having = [
                each["rows"][name][2]
                for other, each in best.items()
                if other != run["problem"] and name in each["rows"]
            ]
            yield run_id, run["problem"], name, expected, parts, (sum(having), len(having))


def test_the_parts_add_up_to_what_was_stored(memory):
    db, transfer = memory
    names = dict(rows(db, "select problem_id, name from problem"))
    n_compared, explained = 0, {}
    for run_id, problem_id, name, expected, parts, history in replay(db, transfer):
        if run_id not in explained:
            explained[run_id] = whole_explanation(db, names[problem_id], run_id)
        result = explained[run_id]
        (feature,) = (each for each in result.features if each.feature == name)
        if expected is None:
            assert "No relevant experience" in result.memory
            assert (feature.expected, feature.contributions, feature.by) == (None, (), None)
            continue
        half = 0.5 if transfer == "guided" else 1.0
        assert feature.adds_up and not feature.predicted
        assert feature.expected == pytest.approx(expected, abs=1e-12)
        found = sorted(each.part for each in feature.contributions)
        np.testing.assert_allclose(found, sorted(half * part for part in parts), atol=1e-9)
        assert (feature.frequency.n_selected, feature.frequency.n_problems) == history
        of_frequency = (1 - half) * history[0] / (history[1] + 1)
        assert feature.frequency.part == pytest.approx(of_frequency, abs=1e-12)
        assert sum(found) + of_frequency == pytest.approx(expected, abs=1e-9)
        assert feature.neighbours == pytest.approx(sum(found))
        n_compared += expected > 0
    assert n_compared > 40


def test_later_runs_do_not_change_an_explanation(memory):
    db, transfer = memory
    for name in ("p4", "p5"):
        for (run_id,) in rows(
            db, f"select run_id from run join problem using (problem_id) where name = '{name}'"
        ):
            result = explanation_of(db, name, run_id=run_id, limit=None)
            assert result.run["run_id"] == run_id and result.run["transfer"] == transfer
            assert all(each.adds_up for each in result.features)
            assert sum(
                each.share for each in result.neighbours
            ) + result.unassigned_share == pytest.approx(1)
            assert (result.unassigned_share > 0.01) == (transfer == "guided")


def test_the_best_run_is_explained_by_default(memory):
    db, _ = memory
    for name in ("p0", "p3"):
        ((best,),) = rows(
            db,
            f"select run_id from best_run join problem using (problem_id) where name = '{name}'",
        )
        result = explanation_of(db, name, limit=None)
        assert result.run["run_id"] == best
        selected = rows(
            db,
            "select f.name from selection s join feature f using (feature_id) "
            f"where s.run_id = {best} and s.selected order by s.rank",
        )
        assert [each.feature for each in result.features if each.selected] == [
            n for (n,) in selected
        ]


def test_selected_features_come_first_and_then_the_most_expected(memory):
    db, _ = memory
    result = explanation_of(db, "p5", limit=None)
    fates = [each.selected for each in result.features]
    assert fates == sorted(fates, reverse=True) and False in fates
    ranks = [each.rank for each in result.features if each.selected]
    rejected = [each.expected for each in result.features if not each.selected]
    assert ranks == sorted(ranks) and rejected == sorted(rejected, reverse=True)
    assert min(rejected) > 0
    few = explanation_of(db, "p5", limit=1)
    assert [each.selected for each in few.features] == [True, False]
    assert few.features[1] == max(
        (each for each in result.features if not each.selected), key=lambda each: each.expected
    )


def test_the_outcome_of_a_feature_matches_the_recorded_sets(memory):
    db, _ = memory
    result = db.stored_run(db.find_problem("p5")["problem_id"])
    kept = {place for _, places, _ in result.candidates for place in places}
    for place, feature in enumerate(whole_explanation(db, "p5").features):
        if result.selected[place]:
            fate = SELECTED
        else:
            fate = LEFT_OUT if place in kept else NOT_KEPT
        assert feature.fate == fate
        steps = [step for step, places, _ in result.candidates if place in places]
        assert [step for step, _ in feature.steps] == steps
        assert feature.relative == pytest.approx(max(result.q[place], 0) / result.q.max())


def test_a_feature_is_proposed_by_the_largest_part(memory):
    db, transfer = memory
    result = explanation_of(db, "p5", limit=None)
    for each in result.features:
        parts = {part.problem: part.part for part in each.contributions} | {
            "selection frequency": each.frequency.part
        }
        if each.by is not None:
            assert parts[each.by] == max(parts.values()) > 0
        assert transfer == "guided" or each.by != "selection frequency"


def test_without_memory_nothing_is_proposed(tmp_path):
    db = MetaDB(tmp_path / "m.duckdb")
    for transfer in ("guided", "none", "ranked"):
        list(solve([problem(0), problem(1)], db=db, transfer=transfer, **QUICK))
    run_of = dict(rows(db, "select transfer, max(run_id) from run group by transfer"))
    for transfer in ("none", "ranked"):
        result = explanation_of(db, "p1", run_id=run_of[transfer])
        assert result.memory == f"Memory was not used: transfer {transfer!r}."
        assert result.neighbours == () and all(each.selected for each in result.features)
        text = sentences(result, result.features[0])
        assert "Memory did not propose it: the search found it by its univariate relevance." in text
    first = explanation_of(db, "p0", run_id=1)
    assert first.memory.startswith("No relevant experience: ")
    list(solve(problem(2), db=db, **{**QUICK, "selector": SelectKBest(k=3)}))
    result = explanation_of(db, "p2")
    assert "selector 'SelectKBest' takes no expectations" in result.memory
    assert result.neighbours and result.neighbours[0].share is None
    alone = explanation_of(db, "p2", result.features[0].feature)
    assert alone.features == result.features[:1]
    assert {each.fate for each in whole_explanation(db, "p2").features} <= {SELECTED, NOT_SELECTED}


def test_an_unseen_feature_is_explained_by_meta_regression(tmp_path):
    """Columns that are new, but of a kind that was useful before."""
    db = MetaDB(tmp_path / "m.duckdb")

    def described(number, names):
        base = problem(number, n_features=len(names))
        kinds = np.linspace(0, 1, len(names))[:, None]
        return Problem.of(
            base.X,
            base.y,
            feature_names=names,
            name=f"d{number}",
            source=f"d{number}.csv",
            meta_features=kinds,
            meta_feature_names=("kind",),
        )

    old = [f"w{j}" for j in range(12)]
    new = [*old[:6], *(f"new{j}" for j in range(6))]
    stream = [described(0, old), described(3, old), described(6, new)]
    list(solve(stream, db=db, regressor="ridge", **QUICK))
    predicted = []
    for name in new:
        result = explanation_of(db, "d6", name)
        feature = result.features[0]
        assert feature.adds_up
        if feature.predicted:
            predicted.append(name)
            assert feature.by == "meta-features" and feature.neighbours == 0
            assert "from its meta-features alone" in " ".join(sentences(result, feature))
    assert predicted and all(name.startswith("new") for name in predicted)


def test_a_changed_memory_is_reported(tmp_path):
    db = MetaDB(tmp_path / "m.duckdb")
    list(solve([problem(n) for n in (0, 3, 6)], db=db, **QUICK))
    before = explanation_of(db, "p6", limit=None)
    assert all(each.adds_up for each in before.features)
    with db.writing() as con:
        con.execute("update problem set excluded = true where name = 'p0'")
    after = explanation_of(db, "p6", limit=None)
    wrong = [each for each in after.features if not each.adds_up]
    assert wrong
    assert [each.expected for each in after.features] == [each.expected for each in before.features]
    assert "not to the stored expectation" in " ".join(sentences(after, wrong[0]))


def test_missing_runs_and_features_are_errors(tmp_path):
    db = MetaDB(tmp_path / "m.duckdb")
    good = problem(0)
    list(solve(good, db=db, **QUICK))
    list(solve(problem(1), db=db, keep="nope", **QUICK))
    with pytest.raises(UsageError, match="'p0' has no feature 'w00': did you mean 'w0'"):
        explanation_of(db, "p0", "w00")
    with pytest.raises(UsageError, match="run 2 is not one of 'p0': `metafs runs --problem 'p0'`"):
        explanation_of(db, "p0", run_id=2)
    with pytest.raises(MetafsError, match="'p1' was never solved"):
        explanation_of(db, "p1")
    with pytest.raises(MetafsError, match="run 2 failed: "):
        explanation_of(db, "p1", run_id=2)


# --- any rows -----------------------------------------------------------------------------------

WORDS = tuple("abcdef")
shares = st.floats(0, 1)


@st.composite
def experiences(draw, number):
    features = draw(st.lists(st.sampled_from(WORDS), unique=True, max_size=6))
    values = [
        np.array(draw(st.lists(shares, min_size=len(features), max_size=len(features))))
        for _ in range(2)
    ]
    selected = draw(st.lists(st.booleans(), min_size=len(features), max_size=len(features)))
    distance = draw(st.floats(0.01, 0.99))
    return Experience(
        f"n{number}", "n.csv", distance, features, *values, np.array(selected, dtype=bool)
    )


@st.composite
def whole_runs(draw):
    transfer = draw(st.sampled_from(["guided", "paper"]))
    near = [draw(experiences(number)) for number in range(draw(st.integers(0, 3)))]
    n_problems = np.array(draw(st.lists(st.integers(0, 5), min_size=6, max_size=6)))
    n_selected = np.array([draw(st.integers(0, int(n))) for n in n_problems])
    history = FeatureHistory(5, n_problems, n_selected)
    prior = expect(near, WORDS, TRANSFERS[transfer], history=history)
    run = {
        "problem": "p",
        "space": "s",
        "transfer": transfer,
        "selector": "climb",
        "prior_used": None if prior is None else transfer,
    }
    q = np.array(draw(st.lists(st.floats(-1, 1) | st.just(np.nan), min_size=6, max_size=6)))
    result = StoredRun(
        run,
        WORDS,
        np.arange(1.0, 7.0),
        q,
        np.zeros(6),
        np.full(6, np.nan) if prior is None else prior.expected,
        np.array(draw(st.lists(st.booleans(), min_size=6, max_size=6))),
        tuple(Neighbour(n, each.problem, each.distance, "") for n, each in enumerate(near)),
        ((3, (0, 2), 0.5),),
    )
    return result, near, history


def some(history, places):
    columns = (history.n_problems, history.n_selected)
    return FeatureHistory(history.n_solved, *(c[places] for c in columns))


@settings(max_examples=60, deadline=None)
@given(whole_runs(), st.permutations(range(6)))
def test_parts_add_up_in_any_order(case, order):
    result, near, history = case
    found = explanation(result, range(6), near, history).features
    assert all(each.adds_up for each in found)
    for each in found:
        assert each.relative is None or 0 <= each.relative <= 1
        if each.expected and not each.predicted:
            parts = each.neighbours + each.frequency.part
            assert parts == pytest.approx(each.expected, abs=1e-9)
        assert not each.predicted, "nothing was predicted here"
    again = explanation(result, order, near, some(history, np.array(order))).features
    assert again == tuple(found[place] for place in order)
    places = shown(result)
    assert set(np.flatnonzero(result.selected)) <= set(places.tolist())
    assert len(set(places.tolist())) == len(places)


@settings(max_examples=20, deadline=None)
@given(whole_runs())
def test_an_unknown_transfer_has_no_parts(case):
    result, near, history = case
    result = replace(result, run=result.run | {"transfer": "forgotten", "prior_used": "forgotten"})
    whole = explanation(result, range(6), near, history)
    for each in whole.features:
        assert (each.neighbours, each.frequency, each.contributions) == (None, None, ())
        if each.expected:
            assert "the parts are unknown" in " ".join(sentences(whole, each))
