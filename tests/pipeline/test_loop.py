"""The loop over a real MetaDB: memory, skipping, failing, batches."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest, chi2

from metafs.data.problem import Problem
from metafs.memory.memory import Memory
from metafs.pipeline.loop import solve
from metafs.pipeline.preparing import prepare
from metafs.pipeline.settings import Settings
from metafs.pipeline.solution import PHASES
from metafs.plugin.hookspecs import hookimpl
from metafs.plugin.registry import Registry
from metafs_metadb import MetaDB

NAMES = [f"w{j}" for j in range(12)]

QUICK = {"selector": "climb", "budget": 200, "folds": 2}


def test_each_problem_starts_from_what_the_earlier_ones_taught(db, related):
    stream = [related(number) for number in range(6)]
    solutions = list(solve(stream, db=db, **QUICK))
    assert [each.status for each in solutions] == ["solved"] * 6
    assert solutions[0].neighbours == ()
    for position, each in enumerate(solutions[1:], start=1):
        names = [name for name, _ in each.neighbours]
        assert names
        assert set(names) <= {problem.name for problem in stream[:position]}
        distances = [distance for _, distance in each.neighbours]
        assert distances == sorted(distances)
    assert any(each.transferred for each in solutions)
    assert set(solutions[-1].seconds) == set(PHASES)
    assert MetaDB(db).check() == []


def test_what_is_recorded_is_what_is_told(db, related, ask):
    stream = [related(number) for number in range(4)]
    results = list(solve(stream, db=db, **QUICK))
    rows = ask(
        "select p.name, r.fitness, r.score, r.non_nested_score, r.n_evaluations, r.n_selected, "
        "r.status, r.prior_used from run r join problem p using (problem_id) order by run_id",
    )
    for each, row in zip(results, rows, strict=True):
        assert row[0] == each.problem
        assert row[1:6] == (
            each.fitness,
            each.score,
            each.non_nested_score,
            each.n_evaluations,
            len(each.features),
        )
        assert row[6:] == ("solved", "guided" if each.neighbours else None)
    assert ask("select count(*) from selection where q is not null") == [(4 * 12,)]
    assert ask("select count(*) from selection where selected and quality > 0")[0][0] > 0
    assert ask("select count(*) from candidate")[0][0] > 0
    assert ask("select count(*) from neighbour where weight > 0")[0][0] > 0
    (seconds,) = ask("select duration_s from run order by run_id desc limit 1")[0]
    assert all(seconds[phase] >= 0 for phase in PHASES)


def test_solving_again_skips_what_is_solved_and_other_settings_do_not(db, related, ask):
    stream = [related(number) for number in range(3)]
    first = list(solve(stream, db=db, **QUICK))
    again = list(solve([*stream, related(3)], db=db, **QUICK))
    assert [each.status for each in again] == ["skipped"] * 3 + ["solved"]
    for one, two in zip(first, again, strict=False):
        assert (one.features, one.fitness, one.score) == (two.features, two.fitness, two.score)
    cold = list(solve(stream, db=db, transfer="none", **QUICK))
    assert [each.status for each in cold] == ["solved"] * 3
    assert ask("select count(*) from problem") == [(4,)]


def test_equal_content_is_the_same_problem_under_any_name(db, related):
    one = related(0)
    renamed = replace(one.columns(list(reversed(one.feature_names))), name="other")
    statuses = [each.status for each in solve([one, renamed], db=db, **QUICK)]
    assert statuses == ["solved", "skipped"]


def test_no_transfer_recalls_nothing_but_is_remembered(db, related):
    cold = list(solve([related(0), related(1)], db=db, transfer="none", **QUICK))
    assert all(not each.neighbours for each in cold)
    (warm,) = solve(related(2), db=db, **QUICK)
    assert {name for name, _ in warm.neighbours} == {"problem 0", "problem 1"}


@pytest.mark.parametrize("transfer", ["paper", "guided"])
def test_expectations_are_recorded_with_the_neighbours_that_made_them(db, related, transfer, ask):
    list(solve([related(number) for number in range(3)], db=db, transfer=transfer, **QUICK))
    rows = ask(
        """
        with last as (select max(run_id) run_id from run),
        said as (
            select s.feature_id, sum(n.weight * s.quality) / any_value(t.total) as expected
            from neighbour n join last using (run_id)
            join best_run b on b.problem_id = n.problem_id
            join selection s on s.run_id = b.run_id,
            (select sum(weight) total from neighbour join last using (run_id)) t
            group by all
        )
        select s.expected, said.expected from selection s join last using (run_id)
        join said using (feature_id)
        """,
    )
    found, papers = np.array(rows, dtype=float).T
    if transfer == "paper":
        np.testing.assert_allclose(found, papers, atol=1e-12)
    assert ((found >= 0) & (found <= 1)).all()


def test_spaces_do_not_mix_and_bare_columns_have_no_memory(db, related, ask):
    elsewhere = replace(related(1), space="elsewhere")
    bare = Problem.of(related(2).X, related(2).y, name="bare")
    results = list(solve([related(0), elsewhere, bare, related(3)], db=db, **QUICK))
    assert [len(each.neighbours) for each in results] == [0, 0, 0, 1]
    assert ask("select count(distinct problem_id) from signature") == [(3,)]
    named = Problem.of(related(2).X, related(2).y, name="named", space="arrays")
    assert next(solve(named, db=db, **QUICK)).status == "solved"


def test_folds_never_learn_from_neighbours_that_may_hold_their_rows(db):
    """Noise, solved again with one row fewer: only the same rows could make it look learnable."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (80, 1500)).astype(float), np.array(["a", "b"] * 40)
    names = [f"w{j}" for j in range(1500)]
    scores = []
    for n_rows in (80, 79):
        noise = Problem.of(X[:n_rows], y[:n_rows], feature_names=names, source="noise.csv")
        (results,) = solve(noise, db=db, seed=1, selector="climb")
        scores.append(results.score)
    assert results.neighbours
    assert results.fitness > 0.4
    assert max(scores) < 0.62


def test_neighbours_from_elsewhere_are_asked_inside_the_folds_too(db, related):
    one = replace(related(0), source="one.csv")
    two = replace(related(1), source="two.csv")
    list(solve(one, db=db, **QUICK))
    plan = Settings(**QUICK).resolve(Registry())
    memory = Memory(MetaDB(db), plan.distance)
    for problem, asked in ((two, True), (replace(two, source="one.csv"), False)):
        prepared = prepare(problem, plan, memory)
        assert prepared.prior is not None
        assert (prepared.fold_prior is not None) == asked
        search_only = prepare(problem, plan, memory, learning=False)
        assert search_only.fold_prior is None
        np.testing.assert_array_equal(search_only.prior.expected, prepared.prior.expected)


def test_what_cannot_be_scored_has_no_score(db, ask):
    tiny = Problem.of(np.arange(6.0).reshape(3, 2), [0.5, 1.5, 2.25], space="tiny")
    (results,) = solve(tiny, db=db, selector="climb")
    assert (results.status, results.score, results.non_nested_score) == ("solved", None, None)
    assert ask("select score from run") == [(None,)]


def test_settings_of_objects_have_the_same_digest_in_every_process():
    code = (
        "from sklearn.feature_selection import SelectKBest, chi2; "
        "from metafs.pipeline.settings import Settings; "
        "print(Settings(selector=SelectKBest(chi2, k=3)).digest())"
    )
    digests = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
        for _ in range(2)
    }
    other = Settings(selector=SelectKBest(chi2, k=4)).digest()
    assert len(digests) == 1
    assert other.encode() not in digests.pop()


class Plugin:
    @hookimpl
    def metafs_selectors(self):
        return {"kbest": SelectKBest(k=3)}


def test_a_plain_scikit_learn_selector_works_by_name_and_as_an_object(db, related):
    (by_name,) = solve(related(0), db=db, registry=Registry([Plugin()]), selector="kbest")
    (by_object,) = solve(related(0), db=None, selector=SelectKBest(k=3))
    assert by_name.features == by_object.features
    assert len(by_name.features) == 3
    assert by_name.transferred == ()


def test_wave_is_the_deprecated_name_of_batch(tmp_path, related):
    stream = [related(number) for number in range(3)]
    with pytest.warns(DeprecationWarning, match="use `batch`"):
        former = solve(stream, db=tmp_path / "former.duckdb", wave=3, **QUICK)
    now = solve(stream, db=tmp_path / "now.duckdb", batch=3, **QUICK)
    for a, b in zip(former, now, strict=True):
        assert (a.features, a.neighbours, a.fitness) == (b.features, b.neighbours, b.fitness)
        assert a.neighbours == ()


@pytest.mark.parametrize("batch", [1, 3])
def test_answers_depend_on_the_batch_but_never_on_the_jobs(tmp_path, related, batch):
    stream = [related(number) for number in range(5)]
    answers = []
    for jobs in (1, 2):
        results = solve(stream, db=tmp_path / f"{jobs}.duckdb", batch=batch, jobs=jobs, **QUICK)
        answers.append([replace(each, seconds={}) for each in results])
    assert answers[0] == answers[1]
    if batch == 3:
        assert all(not each.neighbours for each in answers[0][:3])
        assert all(each.neighbours for each in answers[0][3:])


def test_the_engine_changes_nothing(related):
    stream = [related(number) for number in range(4)]
    answers = [
        [
            replace(each, seconds={})
            for each in solve(stream, db=None, batch=4, jobs=2, engine=engine, **QUICK)
        ]
        for engine in ("local", "dask")
    ]
    assert answers[0] == answers[1]
    assert {each.status for each in answers[0]} == {"solved"}


def test_same_seed_same_answer(tmp_path, related):
    answers = [
        [
            (each.features, each.fitness, each.score, each.n_evaluations)
            for each in solve([related(0), related(1)], db=tmp_path / name, seed=3, **QUICK)
        ]
        for name in ("a.duckdb", "b.duckdb")
    ]
    assert answers[0] == answers[1]


def test_kept_columns_are_always_selected(db, related):
    (results,) = solve(related(0), db=db, keep=("w11",), **QUICK)
    assert "w11" in results.features
    chosen = [NAMES.index(name) for name in results.features]
    measure = Registry().measures["mi-confidence"]
    assert results.fitness == pytest.approx(measure.of_set(related(0).X, related(0).y, chosen))
    (wrong,) = solve(related(0), db=db, keep=("nope",), **QUICK)
    assert "no column 'nope' to keep" in wrong.error


def test_tables_are_read_with_the_same_words_as_on_the_command_line(db, tmp_path, ask):
    rows = [f"{i % 2},{i % 3},{i % 5},{i % 2}" for i in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,c,y", *rows]))
    options = {"target": "y", "keep": "c", "drop": "a", "space": "here", "db": db}
    (results,) = solve(tmp_path / "t.csv", **options, **QUICK)
    assert "c" in results.features
    assert "a" not in results.features
    assert ask("select space, target from problem") == [("here", "y")]


def test_rows_projected_on_important_features_find_neighbours(db, related, ask):
    stream = [related(number, n_samples=40) for number in range(5)]
    list(solve(stream, db=db, transfer="none", **QUICK))
    options = {"distance": "jsd-rows", "project": 3, **QUICK}
    results = list(solve(stream, db=db, **options))
    assert results[-1].neighbours
    assert {name for (name,) in ask("select distinct distance from signature")} == {
        "jsd-features",
        "jsd-rows[3]",
    }
    assert ask("select len(feature_names) from projection") == [(3,)]


def test_projecting_from_an_empty_memory_waits_and_takes_the_waiting_problems_along(
    db, related, ask
):
    stream = [related(number, n_samples=40) for number in range(8)]
    options = {"db": db, "distance": "jsd-rows", "project": 3, **QUICK}
    list(solve(stream[:2], **options))
    assert ask("select count(*) from projection") == [(0,)], "one problem is no reason to freeze"
    results = list(solve(stream, **options))  # the first two are skipped, but may be compared
    assert [each.status for each in results] == ["skipped"] * 2 + ["solved"] * 6
    assert ask("select len(feature_names) from projection") == [(3,)]
    projected = "select count(distinct problem_id) from signature where distance = 'jsd-rows[3]'"
    assert ask(projected) == [(8,)]
    early = {each.name for each in stream[:5]}
    assert {name for name, _ in results[-1].neighbours} & early
    assert MetaDB(db).check() == []


def test_numeric_targets_are_solved_with_a_regressor(db):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    problem = Problem.of(X, X[:, 0] * 3 + rng.normal(size=80) * 0.1, space="numbers")
    (results,) = solve(problem, db=db, **QUICK)
    assert "x0" in results.features
    assert results.scoring == "r2"
    assert results.score > 0.8
    (wrong,) = solve(problem, db=db, learner="logistic", **QUICK)
    assert "predicts classes" in wrong.error


def test_without_a_db_nothing_is_written(tmp_path, related, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (results,) = solve(related(0), db=None, **QUICK)
    assert results.status == "solved"
    assert list(tmp_path.iterdir()) == []


def test_without_a_budget_each_search_has_its_own_limit():
    registry = Registry()
    assert Settings(selector="climb").resolve(registry).selector.max_evaluations == 1000
    assert Settings(selector="gflip").resolve(registry).selector.max_evaluations is None
    assert Settings(selector="gflip", budget=7).resolve(registry).selector.max_evaluations == 7
