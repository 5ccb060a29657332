"""The paper's experiments again: resumed they are the same, and means are those of plain loops."""

import json
from pathlib import Path

import numpy as np
import pytest

from metafs import Registry, solve
from metafs.pipeline.presets import preset_named

BENCHMARKS = Path(__file__).parent.parent.parent / "benchmarks"
WORDS = [f"{letter}{letter}{number}x".translate(str.maketrans("0123456789", "abcdefghij"))
         for letter in "pqr" for number in range(10)]  # fmt: skip


@pytest.fixture(scope="module")
def script():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)
        import paper_settings

        yield paper_settings


@pytest.fixture(scope="module")
def problems(script, tmp_path_factory):
    """Pairs of four groups of short texts, each with favourite words."""
    rng, lines = np.random.default_rng(0), []
    for group in range(4):
        p = np.full(len(WORDS), 1.0)
        p[3 * group : 3 * group + 6] = 6.0
        for _ in range(30):
            words = rng.choice(WORDS, 4, replace=False, p=p / p.sum())
            lines.append(json.dumps({"label": f"g{group}", "text": " ".join(words)}))
    path = tmp_path_factory.mktemp("texts") / "texts.jsonl"
    path.write_text("\n".join(lines))
    found = script.text_pairs(path, documents=30, min_df=1, mi=0.001)
    return script.shuffled(found, 0)


def without_seconds(rows):
    return {
        arm: {
            i: {name: value for name, value in row.items() if "seconds" not in name}
            for i, row in of_arm.items()
        }
        for arm, of_arm in rows.items()
    }


def test_interrupted_and_run_again_it_is_as_if_run_at_once(script, problems, tmp_path):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    for folder in (whole, parts):
        folder.mkdir()
    assert script.run_setting(1, problems, whole)
    steps = 1
    while not script.run_setting(1, problems, parts, deadline=0.0):
        steps += 1
    assert steps >= 2 * len(problems)
    one, other = (without_seconds(script.read(folder, 1)) for folder in (whole, parts))
    assert set(one) == {"cold", "paper"} and all(len(each) == 6 for each in one.values())
    for arm in one:
        for index, row in one[arm].items():
            places = {"position"}  # counted from where it went on
            assert {**row, **dict.fromkeys(places)} == {
                **other[arm][index],
                **dict.fromkeys(places),
            }


def test_with_memory_it_is_the_preset_until_the_target(script, problems, tmp_path):
    script.run_setting(1, problems, tmp_path)
    rows = script.read(tmp_path, 1)
    given = {**preset_named("paper"), "prefilter": None, "threshold": 0.09, "learner": "logistic"}
    cold = list(solve(problems, db=None, **{**given, "transfer": "none"}, folds=2))
    for index, each in enumerate(cold):
        assert rows["cold"][index]["fitness"] == each.fitness == rows["paper"][index]["target"]
    first = rows["paper"][0]
    assert (first["n_transferred"], first["evaluations"]) == (0, rows["cold"][0]["evaluations"])


def test_means_and_figures_are_those_of_plain_loops(script, problems, tmp_path):
    script.run_setting(1, problems, tmp_path)
    rows = script.read(tmp_path, 1)
    result = script.Result.of(rows)
    ratios = [
        rows["cold"][i]["evaluations"] / rows["paper"][i]["evaluations"]
        for i in range(len(problems))
    ]
    np.testing.assert_allclose(result.speedup, ratios)
    text = "\n".join(script.means({1: result}))
    assert f"| {np.mean(ratios):.2f} (3.44) |" in text
    assert f"| {np.prod(ratios) ** (1 / len(ratios)):.2f} (1.05) |" in text
    learned = np.mean([rows["cold"][i]["learning_score"] for i in range(len(problems))])
    assert f"| {learned:.1f}, " in text and learned <= 0
    figures = "\n".join(script.figures({1: result}))
    assert [f"| {n} |" in figures for n in (1, 2, 3, 4)] == [True, True, True, False]


def test_the_figures_are_drawn(script, problems, tmp_path):
    pytest.importorskip("matplotlib")
    script.run_setting(1, problems, tmp_path)
    result = script.Result.of(script.read(tmp_path, 1))
    script.draw(dict.fromkeys(range(1, 7), result), tmp_path / "plots")
    assert len(list((tmp_path / "plots").glob("figure_*.svg"))) == 20


def test_each_setting_can_be_resolved(script):
    for setting in script.SETTINGS.values():
        plan = script.settings_of(setting).resolve(Registry())
        assert (plan.selector.max_evaluations, plan.settings.threshold) == (
            setting.budget,
            setting.threshold,
        )
