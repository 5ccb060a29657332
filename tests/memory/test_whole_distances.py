"""A distance in two stages: some features first, all of them where problems are near by these."""

from dataclasses import replace

import numpy as np
import pytest

from metafs.data.problem import Problem
from metafs.memory.memory import Memory
from metafs.pipeline.loop import solve
from metafs.pipeline.preparing import prepare
from metafs.pipeline.settings import Settings
from metafs.plugin.registry import Registry
from metafs_distances import JsdRows
from metafs_metadb import MetaDB

REGISTRY = Registry()
PROJECT = 3
QUICK = {
    "selector": "climb",
    "budget": 60,
    "folds": 2,
    "learner": "logistic",
    "distance": "jsd-all-rows",
    "project": PROJECT,
}


def table(number, prefix="problem"):
    """Six words, of which the first ones matter; families differ in which rows are frequent."""
    rng = np.random.default_rng(number)
    X = (rng.random((60, 6)) < 0.2 + 0.5 * (number % 2)).astype(float)
    y = np.where(X[:, 0] + X[:, 1] + (rng.random(60) < 0.1) >= 1, "yes", "no")
    return Problem.of(X, y, feature_names=tuple("abcdef"), name=f"{prefix} {number}")


@pytest.mark.parametrize("below", [0.3, 0.5, 0.7, 1.0])
def test_neighbours_are_the_nearest_by_all_features_of_those_near_by_some(db, below):
    settings = {**QUICK, "whole_below": below}
    stream = [table(number) for number in range(12)]
    solved = list(solve(stream, db=db, **settings))
    assert all(each.status == "solved" for each in solved), [each.error for each in solved]
    asked = table(12)
    plan = Settings(**settings).resolve(REGISTRY)
    memory = Memory(MetaDB(db), plan.distance, 20)
    task = prepare(asked, plan, memory)
    chosen = tuple(MetaDB(db).projection("default", f"jsd-all-rows[{PROJECT}]"))
    assert len(chosen) == PROJECT
    whole = plan.distance
    some = replace(whole, features=chosen)

    def distance(jsd, other):
        return jsd.distance(jsd.signature(asked), jsd.signature(other))

    near = [each for each in stream if distance(some, each) < below]
    expected = sorted((distance(whole, each), each.name) for each in near)
    expected = [each for each in expected if each[0] < 1.0][:5]
    found = [(each.distance, each.name) for each in task.neighbours]
    assert [name for _, name in found] == [name for _, name in expected]
    np.testing.assert_allclose([d for d, _ in found], [d for d, _ in expected], atol=1e-9)
    assert memory.near._whole_distances.n_compared == len(near) <= len(stream)
    # What is left out is no nearer than the threshold.
    assert all(distance(whole, each) >= below - 1e-9 for each in stream if each not in near)


def test_by_some_features_problems_are_never_farther_than_by_all():
    whole = JsdRows(max_keys=2**16, named_classes=False)
    some = replace(whole, features=("a", "c", "f"))
    for one in range(6):
        for other in range(one):
            a, b = table(one), table(other)
            by_some, by_all = (
                jsd.distance(jsd.signature(a), jsd.signature(b)) for jsd in (some, whole)
            )
            assert by_some <= by_all + 1e-9


def test_unrelated_problems_fill_up_where_few_are_near(db):
    settings = {**QUICK, "whole_below": 0.05, "transfer": "paper"}
    *_, last = solve([table(number) for number in range(9)], db=db, **settings)
    assert len(last.neighbours) == 5
    assert [name for name, d in last.neighbours if d == 1] == [
        name for name in (f"problem {n}" for n in range(8)) if name not in
        [near for near, d in last.neighbours if d < 1]
    ][: sum(d == 1 for _, d in last.neighbours)]  # fmt: skip


def test_both_signatures_are_remembered_also_behind_a_prefilter(db, ask):
    settings = {**QUICK, "whole_below": 0.9, "prefilter": 0.01}
    list(solve([table(number) for number in range(8)], db=db, **settings))
    rows = dict(ask("select distance, count(distinct problem_id) from signature group by 1"))
    name = "jsd-all-rows[prefilter=0.01]"
    assert rows == {name: 8, f"{name}[{PROJECT}]": 8}
    assert MetaDB(db).check() == []
