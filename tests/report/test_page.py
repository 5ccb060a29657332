"""The page as text: what may be in it, its policy, its size, and the records behind it."""

import hashlib
import json
import re
import time
from base64 import b64encode
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metafs.memory import MetaDB
from metafs.memory.explaining import explain
from metafs.page.text import json_in_page, shown
from metafs.report import draw, report
from metafs.report.contents import contents
from metafs.report.layout import places

from .conftest import HOSTILE

LARGEST = 1_000_000
TRIALS = """
select score from trial
where run_id = $run and size = $size and selector = $selector and learner = $learner
"""


class Parts(HTMLParser):
    """The text of each style and script, and every tag with its attributes."""

    def __init__(self):
        super().__init__()
        self.tags, self.texts = [], {}

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        self.tags.append((f"/{tag}", {}))

    def handle_data(self, data):
        tag = self.tags[-1][0] if self.tags else ""
        if tag in ("script", "style"):
            kind = self.tags[-1][1].get("id", tag)
            self.texts[kind] = self.texts.get(kind, "") + data


def parts_of(page):
    parts = Parts()
    parts.feed(page)
    return parts


@pytest.fixture(scope="session")
def found(solved):
    return report(MetaDB(solved))


def test_the_policy_allows_exactly_the_style_and_the_script_of_the_page(hostile):
    parts = parts_of(draw(report(MetaDB(hostile)), "m.duckdb"))
    assert [tag for tag, _ in parts.tags].count("script") == 2
    (policy,) = (a["content"] for _, a in parts.tags if a.get("http-equiv"))
    for kind in ("style", "script"):
        digest = b64encode(hashlib.sha256(parts.texts[kind].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy and "connect-src 'none'" in policy
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", parts.texts["script"])


def test_hostile_names_come_back_whole_from_the_data(hostile):
    data = json.loads(parts_of(draw(report(MetaDB(hostile)), "m.duckdb")).texts["data"])
    assert data["problems"]["name"] == [*map(shown, HOSTILE), "failed one"]
    assert data["problems"]["error"] == {"7": HOSTILE[0]}
    assert {shown(each) for each in HOSTILE} >= set(data["features"]["name"])


@given(st.recursive(st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_json_in_a_page_is_the_same_json_and_ends_no_script(value):
    text = json_in_page(value)
    assert json.loads(text) == value
    assert not set(text) & set("<>&\u2028\u2029")


@given(st.text(), st.integers(5, 50))
def test_what_is_shown_is_short_and_visible(text, most):
    safe = shown(text, most)
    assert safe.isprintable()
    if text.isprintable():
        assert len(safe) == min(len(text), most)
        if len(text) <= most:
            assert safe == text


def test_scores_curves_and_counts_are_those_of_the_memory(solved, found):
    db = MetaDB(solved)
    (row,) = db.sql("select count(*), count(distinct problem_id) from run")[1]
    assert (found.counts["n_runs"], found.counts["n_solved"]) == row == (8, 7)
    best = {row[0]: row[1:] for row in db.sql("select problem_id, run_id, score from best_run")[1]}
    for each in found.problems:
        assert (each.values["run_id"], each.values["score"]) == best[each.values["problem_id"]]
    chosen = found.problems[-1]
    assert chosen.values["all_features"] is not None and chosen.pipeline["learner"]
    assert chosen.curve.kind == "score"
    for size, score, n_folds in chosen.curve.points:
        which = {name: chosen.pipeline[name] for name in ("selector", "learner")}
        which |= {"run": chosen.values["run_id"], "size": size}
        scores = [value for (value,) in db.sql(TRIALS, which)[1]]
        if size < 12:
            assert len(scores) == n_folds and np.isclose(np.mean(scores), score)


def test_sources_are_those_that_explain_names(solved, found):
    db = MetaDB(solved)
    names = {each.values["problem_id"]: each.values["name"] for each in found.problems}
    features = {each.feature_id: each.name for each in found.features}
    n_sources = n_carried = 0
    for each in found.problems:
        problem = db.find_problem(each.values["name"])
        explained = {one.feature: one for one in explain(db, problem, limit=None).features}
        for one in each.selected:
            why = explained[features[one.feature_id]]
            sources = [names[key] for key in one.sources]
            if one.carried:
                known = [part.problem for part in why.carriers if part.problem in names.values()]
                assert sources[:1] == known[:1]
                n_carried += 1
            else:
                assert set(sources) <= {part.problem for part in why.contributions if part.selected}
                assert bool(sources) == any(part.selected for part in why.contributions)
            n_sources += len(sources)
    assert n_sources > n_carried > 2


def test_gains_are_those_that_solving_measured(solved, found):
    rows = [dict(zip(found.gains.columns, row, strict=True)) for row in found.gains.rows]
    checked = [row for row in rows if row["kind"] == "checked"]
    assert any(row["cold_evaluations"] and row["seconds"] for row in checked)
    assert any(row["cold_score"] is not None for row in checked)
    (twice,) = [row for row in rows if row["kind"] == "two runs"]
    (stored,) = MetaDB(solved).sql(
        "select fitness, score, n_selected from run where transfer = 'none' and prior_used is null"
    )[1]
    assert (twice["cold_score"], twice["cold_selected"]) == stored[1:]


def test_cells_tell_had_selected_and_absent(found):
    shown_features = [each for each in found.features if each.cells]
    for each in shown_features:
        assert len(each.cells) == len(found.problems)
        assert sum(cell != "." for cell in each.cells) == each.n_problems
        assert sum(cell not in ".0" for cell in each.cells) == each.n_selected


def test_the_same_memory_has_the_same_map_and_keeps_it_when_it_grows(found):
    first = places(found.problems)
    assert first == places(found.problems)
    assert all(0 <= at <= 1000 for place in first.values() for at in place)
    fewer = places(found.problems[:-1])
    grown = places(found.problems, fewer)
    assert set(grown) == set(first) and places(()) == {}


def thousand(found):
    """Return a report of a thousand problems, each with as much as a report ever reads of it."""
    rng = np.random.default_rng(0)
    many, model = [], max(found.problems, key=lambda each: len(each.selected))
    for number in range(1, 1001):
        selected = tuple(
            replace(
                model.selected[0],
                feature_id=int(feature),
                weight=float(rng.normal()),
                from_memory=float(rng.normal()),
                sources=tuple(rng.integers(1, 1001, 3).tolist()),
            )
            for feature in rng.integers(0, 400, 12)
        )
        near = tuple((int(key), float(rng.random())) for key in rng.integers(1, number + 1, 5))
        values = {**model.values, "problem_id": number, "score": float(rng.random())}
        values |= {"name": f"a problem of twenty letters or more, {number}", "run_id": number}
        values |= {"seconds": float(rng.random()), "all_features": float(rng.random())}
        curve = found.problems[-1].curve
        points = tuple((2**k, float(rng.random()), 5) for k in range(8))
        many.append(
            replace(
                model,
                values=values,
                selected=selected,
                neighbours=near,
                curve=replace(curve, points=points),
            )
        )
    features = tuple(
        replace(
            found.features[0],
            feature_id=number,
            name=f"feature {number}",
            cells="5" * 1000 if number < 40 else "",
        )
        for number in range(400)
    )
    return replace(found, problems=tuple(many), features=features)


def test_a_thousand_problems_fit_into_a_megabyte_and_seconds(found):
    many = thousand(found)
    begun = time.process_time()
    page = draw(many, "m.duckdb")
    assert len(page.encode()) < LARGEST
    assert time.process_time() - begun < 60
    data = contents(many, {}, "m.duckdb")
    assert len(data["problems"]["name"]) == 1000
