"""The explanations of an experiment, compared with the loop and its MetaDB."""

import json
from html import escape

import numpy as np
import pytest

from metafs.data.problem import Problem
from metafs.experiment import Design, Experiment, arms_named, run
from metafs.experiment.arms import explained
from metafs.experiment.explanation import MOST, why
from metafs.experiment.page import page
from metafs.memory.explaining import explain
from metafs.memory.memory import Memory
from metafs.pipeline.loop import InMemorySource
from metafs.pipeline.preparing import prepare
from metafs.pipeline.recording import finish
from metafs.pipeline.settings import Settings
from metafs.pipeline.steps import work
from metafs.plugin.registry import Registry
from metafs_metadb import MetaDB

REGISTRY = Registry()


def problem(number):
    rng = np.random.default_rng(number)
    X = (rng.random((60, 14)) < 0.4).astype(float)
    y = np.where(X[:, number % 2] + X[:, number % 2 + 1] >= 1, "yes", "no")
    names = [f"<w{j}>" for j in range(14)]
    return Problem.of(X, y, feature_names=names, name=f"<p{number}>")


@pytest.fixture(scope="module")
def found():
    """Two seeds and two orders, of which the first of each is explained."""
    design = Design(
        arms_named(["paper", "guided"]),
        seeds=2,
        orders=2,
        learning=False,
        settings=Settings(budget=60, selector="climb"),
    )
    stream = [InMemorySource(problem(number)) for number in range(4)]
    return Experiment(design, 4, list(run(stream, design, REGISTRY)))


def test_one_pass_of_guided_is_explained(found):
    results = [each for each in found.outcomes if each.why is not None]
    assert [(each.arm, each.seed, each.order, each.position) for each in results] == [
        ("guided", 0, 0, position) for position in range(4)
    ]
    assert results[0].why.memory.startswith("No relevant experience")
    assert results[0].why.proposed == () and results[0].note is not None
    for each in results[1:]:
        reason = each.why
        distances = [near.distance for near in reason.neighbours]
        assert min(distances) == pytest.approx(each.nearest_distance)
        assert np.mean(distances) == pytest.approx(each.mean_distance)
        expected = [feature.expected for feature in reason.proposed]
        assert 0 < len(expected) <= MOST and expected == sorted(expected, reverse=True)
        assert reason.n_survived <= min(each.n_common, each.n_selected)
        if each.n_transferred <= MOST:
            assert (len(expected), reason.n_survived) == (each.n_transferred, each.n_common)
    assert explained(found.design.arms[:2]).name == "paper"
    assert explained(found.design.arms[:1]) is None


@pytest.mark.parametrize("transfer", ["paper", "guided"])
def test_it_is_what_the_metadb_explains(tmp_path, transfer):
    plan = Settings(budget=60, transfer=transfer, selector="climb").resolve(REGISTRY)
    db = MetaDB(tmp_path / "m.duckdb")
    db.ensure()
    memory = Memory(db, plan.distance)
    for number in range(4):
        task = prepare(problem(number), plan, memory, learning=False)
        result = work(task, learning=False)
        finish(task, result, memory)
        reason = why(task, result)
        stored = explain(db, db.find_problem(f"<p{number}>"), limit=None)
        assert (reason.memory, reason.neighbours) == (stored.memory, stored.neighbours)
        by_name = {each.feature: each for each in stored.features}
        expected = sorted((each.expected or 0.0 for each in stored.features), reverse=True)
        assert [each.expected for each in reason.proposed] == [e for e in expected if e > 0][:MOST]
        for each in reason.proposed:
            there = by_name[each.feature]
            assert (each.expected, each.fate) == (there.expected, there.fate)
            assert each.relative == pytest.approx(there.relative)
            assert each.by == there.by
            strongest = there.strongest
            of_neighbour = strongest is not None and strongest.problem == each.by
            assert each.distance == (strongest.distance if of_neighbour else None)


def test_the_page_and_the_json_show_it(found):
    results = found.as_json()
    assert [each["problem"] for each in results["why"]] == [f"<p{n}>" for n in range(4)]
    assert "why" not in results["problems"][0]
    assert json.loads(json.dumps(results["why"]))[2]["proposed"][0]["by"]
    text = page(found, [])
    section = text[text.index("<h2 id='why'>") : text.index("<h2 id='settings'>")]
    assert section.count("<details>") == section.count("</details>") == 4
    assert "<p2>" not in text and "<w1>" not in text, "names are escaped"
    for each in found.outcomes:
        if each.why is not None:
            n_proposed = len(each.why.proposed)
            results = (
                f"{each.why.n_survived} of {n_proposed} selected" if n_proposed else "no experience"
            )
            assert f"{escape(each.problem)}: {results}</summary>" in section


def test_without_an_arm_that_remembers_nothing_is_explained():
    design = Design(
        arms_named(["cold-ranked"]), learning=False, settings=Settings(budget=60, selector="climb")
    )
    found = Experiment(design, 1, list(run([InMemorySource(problem(0))], design, REGISTRY)))
    assert found.as_json()["why"] == []
    assert "What memory proposed" not in page(found, [])
