"""The page of an experiment: what it says, what it draws, and what it leaves out."""

import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest

from metafs.errors import UsageError
from metafs.experiment import Design, Experiment, Failed, Outcome, arms_named
from metafs.experiment.arm_table import MEASURES, in_short
from metafs.experiment.arms import DESCRIPTIONS, known_arms
from metafs.experiment.drawing import LOOKS, logarithmic, panels, require_matplotlib
from metafs.experiment.figures import drawings, fitness_along
from metafs.experiment.page import page
from metafs.pipeline.solution import Solution

ODD = """<b>&"it's"""
EVALUATIONS = {"cold": 80, "cold-ranked": 20, "paper": 160, "guided": 20}


def found(place, score, remembers):
    """The solution of one problem, of which three features are selected."""
    near = (("one", 0.9 - place / 100), ("two", 1.0 + place / 100))
    return Solution(
        problem=f"{ODD} {place}",
        status="solved",
        features=("f0", "f1", "f11"),
        fitness=0.5 + place / 100,
        score=score,
        non_nested_score=score,
        scoring="balanced_accuracy" if score else None,
        n_evaluations=200,
        neighbours=near if remembers and place else (),
        transferred=tuple(f"f{j}" for j in range(place)),
        experience="near",
        seconds={"select": 0.1, "recall": 0.1 * remembers},
        n_features=12,
    )


def made_up(n_problems=5, arms=(), score=0.9):
    """An experiment in which an arm always needs as many evaluations, and guided varies."""
    design = Design(arms_named(arms), learning=score is not None)
    results = [
        Outcome(
            arm=arm.name,
            seed=0,
            order=0 if arm.remembers else None,
            index=place,
            position=place,
            target=0.5,
            reached=arm.name != "paper",
            evaluations=EVALUATIONS[arm.name] + (place if arm.name == "guided" else 0),
            solution=found(place, score, arm.remembers),
        )
        for arm in design.arms
        for place in range(n_problems)
    ]
    return Experiment(design, n_problems, results)


class Reading(HTMLParser):
    """Notes what a page holds, and that what is opened is closed."""

    VOID = ("meta", "img")

    def __init__(self):
        super().__init__()
        self.open, self.images, self.text, self.ids, self.links = [], [], [], [], []

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.links += [attributes["href"]] if tag == "a" else []
        if tag == "img":
            self.images.append(attributes)
        if tag not in self.VOID:
            self.open.append(tag)
        assert tag not in ("script", "link", "iframe", "b")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def read_page(experiment, drawn=None, title="Experiment"):
    reading = Reading()
    reading.feed(page(experiment, drawings(experiment) if drawn is None else drawn, title))
    reading.close()
    assert reading.open == []
    return reading


@pytest.fixture(scope="module")
def whole():
    return made_up()


@pytest.fixture(scope="module")
def drawn(whole):
    return drawings(whole)


def test_the_page_stands_alone_and_answers_to_every_figure(whole, drawn):
    results = page(whole, drawn, f"a {ODD}")
    reading = read_page(whole, drawn, f"a {ODD}")
    text = " ".join(reading.text)
    assert f"a {ODD}" in text
    assert len(reading.images) == len(drawn) == 10
    assert all(each["alt"] and each["src"].startswith("data:image/svg") for each in reading.images)
    assert not re.search(r"(src|href)=.(?!data:|#)", results.replace("xlink:href", ""))
    numbers = {int(each) for drawing in drawn for each in re.findall(r"\b\d+\b", drawing.caption)}
    assert set(range(1, 21)) <= numbers
    for name in ("cold", "paper", "guided", *(each.problem for each in whole.of("cold"))):
        assert name in text
    assert "stopped before its end" not in text
    for each in drawn:
        assert each.svg.startswith(b"<?xml")
        assert all(len(row) == len(each.columns) for row in each.rows)
    assert drawn[0].png.startswith(b"\x89PNG")
    again = fitness_along(whole, ["cold", "guided"])
    assert again.svg == fitness_along(whole, ["cold", "guided"]).svg


def test_the_contents_lead_to_every_section(whole, drawn):
    reading = read_page(whole, drawn)
    assert len(set(reading.ids)) == len(reading.ids)
    assert reading.links == [f"#{name}" for name in reading.ids]


def test_every_arm_is_explained_and_looks_like_itself():
    assert set(DESCRIPTIONS) == set(LOOKS) == set(known_arms())
    assert len({each.colour for each in LOOKS.values()}) == len(LOOKS)
    assert len({(each.line, each.width) for each in LOOKS.values()}) == len(LOOKS)


def test_an_arm_in_short(whole):
    arms = whole.summaries
    assert in_short("paper", arms["paper"]) == (
        "paper tried 2 times more sets than cold and 8 times more sets than cold-ranked, and took "
        "2 times as long as cold. It found a set as good as that of cold in 0% of its searches."
    )
    assert "tried 4 times fewer sets than cold, and took about as long as cold." in in_short(
        "cold-ranked", arms["cold-ranked"]
    )
    unsure = replace(arms["guided"].over_ranked, geometric_mean_interval=(0.9, 1.1))
    guided = replace(arms["guided"], over_ranked=unsure)
    assert "and about as many sets as cold-ranked" in in_short("guided", guided)


def test_the_table_of_arms_shows_what_is_known(whole, drawn):
    text = read_page(whole, drawn).text
    meaning = {each.name: each.meaning for each in MEASURES}
    assert set(meaning.values()) <= set(text)
    low, high = whole.summaries["guided"].speedup.geometric_mean_interval
    assert f"{low:.2f} to {high:.2f}" in text
    less = read_page(made_up(arms=["guided"], score=None), drawn=[]).text
    assert {name for name, results in meaning.items() if results not in less} == {
        "over cold-ranked",
        "score",
    }


@pytest.mark.parametrize(("arm", "shown"), [("cold", []), ("guided", ["means"])])
def test_of_one_problem_nothing_is_drawn_along_the_stream(arm, shown):
    found = made_up(1, [arm])
    drawn = drawings(found)
    assert [each.name for each in drawn] == shown
    assert "1 problem, 1 seed, 1 order" in " ".join(read_page(found, drawn).text)


def test_without_neighbours_no_distances_are_drawn(whole, drawn):
    alone = [
        replace(each, solution=replace(each.solution, neighbours=())) for each in whole.outcomes
    ]
    left_out = {each.name for each in drawn} - {
        each.name for each in drawings(replace(whole, all_outcomes=alone))
    }
    assert left_out == {"distance", "transferred_speedup", "inverse_distance_speedup"}


def test_missing_outcomes_are_reported(whole):
    failed = Failed("guided", 4, Solution(ODD, "failed", error="too <b>few rows"))
    found = replace(whole, all_outcomes=whole.outcomes[:-3], failures=[failed])
    text = " ".join(read_page(found, drawn=[]).text)
    assert "stopped before its end" in text
    assert f"{ODD} failed in arm guided and is left out of all arms: too <b>few rows" in text


@pytest.mark.parametrize("name", ["xaxis", "yaxis"])
@pytest.mark.parametrize("ends", [(0.97, 1.2), (0.4, 1.05), (0.3, 3), (0.004, 2), (1, 3e6)])
def test_a_logarithmic_axis_has_a_few_plain_numbers(name, ends):
    figure, (panel, *_) = panels(3, across=3, height=2.5 if name == "xaxis" else 4)
    panel.plot(ends, ends)
    axis = getattr(panel, name)
    logarithmic(axis)
    figure.draw_without_rendering()
    low, high = axis.get_view_interval()
    shown = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    assert "1" in [tick.label1.get_text() for tick in shown]
    assert len(shown) >= 2
    boxes = sorted(
        getattr(tick.label1.get_window_extent(), f"interval{name[0]}").tolist() for tick in shown
    )
    assert all(before[1] < after[0] for before, after in pairwise(boxes))


def test_panels_beyond_two_go_below():
    figure, found = panels(3)
    assert len(found) == len(figure.axes) == 3
    tops = [panel.get_position().y1 for panel in found]
    assert tops[0] == tops[1] > tops[2]
    assert np.allclose(figure.get_size_inches(), panels(1)[0].get_size_inches() * [1, 2])


def test_without_matplotlib_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(UsageError, match=r"pip install 'metafs-automl\[report\]'"):
        require_matplotlib()
