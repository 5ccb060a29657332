"""Memory: searches by any distance, and Ctrl-C that waits for a record to be written."""

import os
import signal

import numpy as np
import pytest

from metafs.memory.memory import INDEX_FROM, Memory
from metafs.memory.uninterrupted import uninterrupted
from metafs.pipeline.loop import solve
from metafs.pipeline.settings import Settings
from metafs.plugin.hookspecs import hookimpl
from metafs.plugin.registry import Registry
from metafs.plugin.signature import hash_keys, signature_of
from metafs.testing import cases_of
from metafs_metadb import MetaDB


class TotalVariation:
    """Half the sum of absolute differences between the means of the columns: not for SQL."""

    in_sql = False

    def signature(self, problem):
        keys = hash_keys((name,) for name in problem.feature_names)
        return signature_of(keys, problem.X.mean(axis=0) + 1e-3)

    def distance(self, a, b):
        p, q = dict(zip(a.keys, a.p, strict=True)), dict(zip(b.keys, b.p, strict=True))
        return float(sum(abs(p.get(key, 0.0) - q.get(key, 0.0)) for key in p.keys() | q.keys()) / 2)


class Plugin:
    @hookimpl
    def metafs_distances(self):
        return {"total-variation": TotalVariation()}


@pytest.mark.parametrize("together", [True, False], ids=["one stream", "one by one"])
def test_a_distance_that_sql_does_not_know_finds_the_nearest(db, related, together):
    registry, problems = Registry([Plugin()]), [related(number) for number in range(5)]
    options = {"db": db, "registry": registry, "distance": "total-variation", "folds": 2}
    streams = [problems] if together else [[problem] for problem in problems]
    results = [each for stream in streams for each in solve(stream, budget=50, **options)]
    measure = TotalVariation()
    last = measure.signature(problems[-1])
    expected = sorted(
        (measure.distance(last, measure.signature(other)), other.name) for other in problems[:-1]
    )
    assert [name for name, _ in results[-1].neighbours] == [name for _, name in expected]
    found = [distance for _, distance in results[-1].neighbours]
    np.testing.assert_allclose(found, [distance for distance, _ in expected])
    assert MetaDB(db).check() == []


def test_ctrl_c_waits_until_the_block_is_done():
    done = []
    with pytest.raises(KeyboardInterrupt), uninterrupted():
        os.kill(os.getpid(), signal.SIGINT)
        done.append("recorded")
    assert done == ["recorded"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_blocks_in_which_ctrl_c_waits_may_be_nested():
    done = []
    with pytest.raises(KeyboardInterrupt), uninterrupted():
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
            done.append("inner")
        done.append("outer")
    assert done == ["inner", "outer"]


def test_the_distance_of_these_tests_keeps_the_contract():
    for case in cases_of(Plugin()):
        case()


def test_what_to_expect_of_a_problem_is_asked_in_one_visit(db, related, monkeypatch):
    problems = [related(number) for number in range(3)]
    list(solve(problems[:2], db=db, budget=50, folds=2, selector="climb"))
    metadb, visits = MetaDB(db), []
    plan = Settings(budget=50, folds=2, selector="climb").resolve(Registry())
    memory = Memory(metadb, plan.distance, INDEX_FROM)
    described = memory.near.describe(problems[2], plan.settings.distance)
    near = memory.near.recall(problems[2], described, 5)
    reading = metadb.reading
    monkeypatch.setattr(metadb, "reading", lambda: visits.append("one") or reading())
    for asked in ("not at hand", "at hand"):
        results, records = memory.remembered(problems[2], near, (None, "elsewhere"))
        assert visits.pop() == "one" and not visits, asked
        assert [each.problem for each in results] == [each.name for each in near]
        assert [record.n_solved for record in records] == [2, 2]
    results, records = memory.remembered(problems[2], near)  # both at hand, no record wanted
    assert len(results) == 2 and not records and not visits
