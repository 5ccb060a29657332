"""The experiment against the loop run by hand, its summary, and its page."""

import tempfile
from dataclasses import replace

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest

from metafs.data.problem import Problem
from metafs.errors import ProblemError, UsageError
from metafs.experiment import Arm, Design, Experiment, Failed, Outcome, arms_named
from metafs.experiment import run as run_all
from metafs.experiment.outcome import NO_EXPERIENCE
from metafs.experiment.page import page
from metafs.experiment.series import QUARTERS, speedups, values
from metafs.pipeline.loop import InMemorySource, solve
from metafs.pipeline.settings import Settings
from metafs.plugin.hookspecs import hookimpl
from metafs.plugin.registry import Registry
from metafs_metadb import MetaDB

REGISTRY = Registry()
QUICK = Settings(budget=150, folds=2, selector="climb")
TIMES = ("seconds", "seconds_to_target")


def run(stream, asked, registry=REGISTRY, jobs=1):
    return run_all(stream, asked, registry, jobs)


def design(*arms, **options):
    options = {"settings": QUICK, "learning": False, **options}
    return Design(arms_named(arms or ["paper", "guided"]), **options)


def timeless(outcomes):
    return [{k: v for k, v in each.as_json().items() if k not in TIMES} for each in outcomes]


@pytest.fixture
def stream(related):
    return [InMemorySource(related(number)) for number in range(5)]


@pytest.fixture(scope="module")
def whole():
    """A whole experiment with two seeds and two orders; the learner's scores are made up."""
    rng = np.random.default_rng(0)
    some = []
    for number in range(4):
        X = (rng.random((60, 12)) < 0.4).astype(float)
        y = np.where(X[:, number] + X[:, number + 1] >= 1, "yes", "no")
        names = [f"w{j}" for j in range(12)]
        some.append(InMemorySource(Problem.of(X, y, feature_names=names, name=f"problem {number}")))
    asked = design(seeds=2, orders=2)
    results = [
        replace(
            each,
            solution=replace(
                each.solution, score=1 / each.evaluations, non_nested_score=each.fitness
            ),
        )
        for each in run(some, asked)
    ]
    return Experiment(replace(asked, learning=True), len(some), results)


def by_hand(stream, transfer, folder, **options):
    """The paper's section 4.1 with `solve` alone: cold, target, then warm until the target."""
    cold = [next(solve(each.problem, db=None, transfer="none", **options)) for each in stream]
    db = MetaDB(folder / f"{transfer}.duckdb")
    warm = []
    for each, before in zip(stream, cold, strict=True):
        params = {"target_score": before.fitness}
        warm += solve(each.problem, db=db, transfer=transfer, params=params, **options)
    return cold, warm


@pytest.mark.parametrize("transfer", ["paper", "guided"])
def test_an_arm_is_the_loop_until_the_target_of_the_cold_run(stream, tmp_path, transfer):
    cold, warm = by_hand(
        stream, transfer, tmp_path, selector="climb", budget=150, folds=2, registry=REGISTRY
    )
    results = list(run(stream, design(transfer, learning=True)))
    assert [each.arm for each in results] == ["cold"] * 5 + [transfer] * 5
    for ours, theirs in zip(results[:5], cold, strict=True):
        assert ours.target == ours.fitness == theirs.fitness
        assert ours.n_evaluations == theirs.n_evaluations >= ours.evaluations
        assert (ours.score, ours.n_selected) == (theirs.score, len(theirs.features))
        assert ours.reached and ours.order is None and ours.note is None
    for ours, theirs, before in zip(results[5:], warm, cold, strict=True):
        reached = theirs.fitness >= before.fitness - 1e-12
        assert ours.evaluations == ours.n_evaluations == theirs.n_evaluations
        assert (ours.reached, ours.fitness) == (reached, theirs.fitness)
        assert (ours.score, ours.non_nested_score) == (theirs.score, theirs.non_nested_score)
        assert ours.n_transferred == len(theirs.transferred)
        assert ours.n_common == len(set(theirs.transferred) & set(theirs.features))
        distances = [distance for _, distance in theirs.neighbours]
        assert ours.nearest_distance == min(distances, default=None)
        assert (ours.note == NO_EXPERIENCE) == (ours.position == 0) == (not distances)
        assert set(ours.seconds) == {"describe", "recall", "expect", "select", "learn", "record"}
        spent = sum(each for phase, each in ours.seconds.items() if phase != "learn")
        assert ours.seconds_to_target == pytest.approx(spent)


def test_the_cold_search_stops_at_its_own_target_after_as_many_evaluations(stream):
    climb = REGISTRY.selectors["climb"]
    for each in run(stream, design("cold")):
        problem = stream[each.index].problem
        search = climb.set_params(
            target_score=each.target, max_evaluations=150, random_state=each.seed
        ).fit(problem.X, problem.y)
        assert search.n_evaluations_ == each.evaluations
        assert search.fitness_ == each.fitness


def test_every_order_is_a_stream_with_a_memory_of_its_own(stream):
    asked = design("guided", orders=2)
    results = list(run(stream, asked))
    assert len(results) == asked.n_outcomes(5) == 5 + 10
    for order, sequence in enumerate(asked.sequences(5)):
        here = [each for each in results if each.order == order]
        assert [each.index for each in here] == sequence
        assert [each.position for each in here] == list(range(5))
        assert here[0].note == NO_EXPERIENCE and here[1].nearest_distance
        shuffled = [stream[index] for index in sequence]
        alone = [each for each in run(shuffled, design("guided")) if each.arm == "guided"]
        assert [each.evaluations for each in here] == [each.evaluations for each in alone]


def test_the_seed_decides_and_jobs_do_not(stream):
    asked = design("guided", seeds=2)
    results = timeless(run(stream[:3], asked))
    assert timeless(run(stream[:3], asked, jobs=2)) == results
    first, second = ([each for each in results if each["seed"] == seed] for seed in (0, 1))
    alone = replace(asked, seeds=1, settings=replace(QUICK, seed=1))
    assert timeless(run(stream[:3], alone)) == second
    assert [each["evaluations"] for each in first] != [each["evaluations"] for each in second]


def test_nothing_is_left_behind(stream, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    results = run(stream, design("guided"))
    next(results)
    assert [path.name.startswith("metafs-experiment-") for path in tmp_path.iterdir()] == [True]
    list(results)
    assert list(tmp_path.iterdir()) == []


class Unreadable:
    name, origin = "broken", "nowhere.csv"

    def read(self):
        raise ProblemError("nowhere.csv is not there.")


def failing_on_priors():
    """Offer a climb that cannot bear a prior for a problem of 61 rows."""
    climb = type(REGISTRY.selectors["climb"])

    class Touchy(climb):
        def _fit(self, X, y, prior):
            if prior is not None and len(y) == 61:
                raise RuntimeError("this one not")
            super()._fit(X, y, prior)

    class Plugin:
        @hookimpl
        def metafs_selectors(self):
            return {"touchy": Touchy()}

    return Registry([Plugin()])


def test_a_problem_that_fails_in_any_arm_counts_in_none(stream, related):
    stream = [*stream[:3], InMemorySource(related(4, n_samples=61)), Unreadable(), stream[4]]
    asked = design("guided", settings=replace(QUICK, selector="touchy"))
    results = list(run(stream, asked, failing_on_priors()))
    failures = [each for each in results if isinstance(each, Failed)]
    assert [(each.arm, each.problem) for each in failures] == [
        ("cold", "broken"),
        ("guided", "problem 4"),
    ]
    assert failures[0].error == "nowhere.csv is not there."
    assert "this one not" in failures[1].error and "Traceback" in failures[1].details
    found = Experiment(asked, 6, [each for each in results if isinstance(each, Outcome)], failures)
    assert found.complete
    for arm in ("cold", "guided"):
        assert [each.index for each in found.of(arm)] == [0, 1, 2, 5]
        assert found.summaries[arm].problems == 4
    assert [each["problem"] for each in found.as_json()["failed"]] == ["broken", "problem 4"]
    assert "problem 4 failed in arm guided" in page(found, [])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            {"settings": Settings(selector=SelectKBest(k=2))},
            "takes no prior, so memory cannot help it",
        ),
        ({"settings": Settings(params={"target_score": 1.0}, selector="climb")}, "leave it out"),
        ({"settings": Settings(transfer="nope", selector="climb")}, "no transfer named 'nope'"),
        ({"seeds": 0}, "seeds must be at least 1"),
        ({"orders": 0}, "orders must be at least 1"),
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_is_read(wrong, message):
    with pytest.raises(UsageError, match=message):
        run([Unreadable()], design(**wrong))


@pytest.mark.parametrize("selector", ["gflip", "shrunk"])
def test_any_selector_that_takes_a_prior_is_compared(stream, selector):
    """One with fitness is charged until its target, one without is judged by the learner."""
    settings = Settings(selector=selector, folds=2)
    found = list(run(stream[:3], design("paper", settings=settings, learning=True)))
    assert [each.arm for each in found] == ["cold"] * 3 + ["paper"] * 3
    for each in found:
        assert isinstance(each, Outcome)
        assert 1 <= each.evaluations <= max(1, each.n_evaluations)
        assert each.reached == (each.fitness >= each.target - 1e-9)
        if selector == "shrunk":
            assert each.fitness == each.score
    assert all(each.reached for each in found[:3])


def test_without_fitness_and_without_learner_nothing_is_compared(stream):
    settings = Settings(selector="shrunk", folds=2)
    found = list(run(stream[:1], design("paper", settings=settings, learning=False)))
    assert [each.arm for each in found] == ["cold"]
    assert "leave out --no-learn" in found[0].error


def test_unknown_arms():
    with pytest.raises(UsageError, match="did you mean guided"):
        arms_named(["gided"])
    with pytest.raises(UsageError, match="there are cold, "):
        arms_named(["xyz"])
    assert [arm.name for arm in arms_named(["guided", "cold", "guided"])] == ["cold", "guided"]
    assert {arm.name for arm in arms_named() if not arm.remembers} <= {"cold", "cold-ranked"}


def test_summaries_are_those_of_the_rows(whole):
    results = whole.as_json()
    assert results["settings"]["complete"] and results["settings"]["seeds"] == [0, 1]
    cold = {
        (row["seed"], row["problem"]): row for row in results["problems"] if row["arm"] == "cold"
    }
    assert len(cold) == 8
    for name in ("paper", "guided"):
        arm = results["arms"][name]
        rows = [row for row in results["problems"] if row["arm"] == name]
        assert arm["searches"] == len(rows) == 16
        before = [cold[row["seed"], row["problem"]] for row in rows]
        ratio = np.array(
            [b["evaluations"] / r["evaluations"] for b, r in zip(before, rows, strict=True)]
        )
        assert arm["geometric_mean_speedup"] == pytest.approx(np.exp(np.log(ratio).mean()))
        assert arm["arithmetic_mean_speedup"] == pytest.approx(ratio.mean())
        assert arm["negative_transfer"] == pytest.approx((ratio < 1).mean())
        assert arm["reached"] == pytest.approx(np.mean([row["reached"] for row in rows]))
        assert arm["mean_score"] == pytest.approx(np.mean([row["score"] for row in rows]))
        published = [
            b["n_evaluations"] / r["evaluations"] for b, r in zip(before, rows, strict=True)
        ]
        assert arm["geometric_mean_speedup_as_published"] == pytest.approx(
            np.exp(np.log(published).mean())
        )
        in_seconds = [
            b["seconds_to_target"] / r["seconds_to_target"]
            for b, r in zip(before, rows, strict=True)
        ]
        assert arm["geometric_mean_speedup_seconds"] == pytest.approx(
            np.exp(np.log(in_seconds).mean())
        )
        pearson = np.corrcoef([row["n_transferred"] for row in rows], ratio)[0, 1]
        assert arm["transferred_correlation"] == pytest.approx(pearson)
        assert sum(arm["seconds_by_phase"].values()) == pytest.approx(arm["seconds"])
        notes = [row["note"] for row in rows]
        assert notes.count(NO_EXPERIENCE) == 4, "the first problem of each seed and order"
        assert arm["without_experience"] == np.mean([note is not None for note in notes])
    assert results["arms"]["cold"]["geometric_mean_speedup"] == 1.0


def test_the_ratio_over_ranked_is_to_the_same_problem_and_seed(stream):
    results = list(run(stream, design("guided")))
    ranked = [
        replace(
            each, arm="cold-ranked", order=None, position=each.index, evaluations=each.index + 1
        )
        for each in results
        if each.arm == "guided"
    ]
    rank = replace(design("guided"), arms=(Arm("none"), Arm("ranked"), Arm("guided")))
    arm = Experiment(rank, 5, [*results, *ranked]).summaries["guided"]
    ours = [each.evaluations for each in results if each.arm == "guided"]
    expected = np.exp(np.mean(np.log(np.arange(1, 6) / np.array(ours))))
    assert arm.over_ranked.geometric_mean == pytest.approx(expected)
    assert Experiment(rank, 5, results).summaries["guided"].over_ranked is None


def test_series_follow_the_stream_in_every_order(whole):
    results = speedups(whole, "guided")
    assert sorted(set(results.position.tolist())) == list(range(4))
    assert len(results.value) == 16
    assert results.mean() == pytest.approx(whole.summaries["guided"].speedup.geometric_mean)
    fitness = values(whole, "cold", "fitness")
    assert len(fitness.value) == 16, "a cold search counts in both orders"
    own = {(each.seed, each.index): each.fitness for each in whole.of("cold")}
    sequences = whole.design.sequences(4)
    expected = sorted((sequence.index(i), own[s, i]) for s, i in own for sequence in sequences)
    assert sorted(zip(fitness.position.tolist(), fitness.value.tolist(), strict=True)) == expected
    assert len(fitness.quarters()) == len(QUARTERS)
    assert np.mean(values(whole, "cold", "fitness").trend()[1]) > 0
