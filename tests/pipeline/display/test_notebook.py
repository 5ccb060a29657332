"""What a notebook shows: everything escaped, and below scikit-learn's diagram what was chosen."""

import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from metafs import MetaSelector, Solutions, solve
from metafs.data.problem import Problem
from metafs.pipeline.display.progress import Progress

HOSTILE = "<script>alert(1)</script>\x1b[31m&\"'"
QUICK = {"selector": "fisher", "folds": 2}


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found, self.open = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def problems():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    names = [HOSTILE, "b", "c"]
    yield Problem.of(X + y[:, None], y, name=f"good {HOSTILE}", feature_names=names, space="s")
    yield Problem.of(X, y, name="bad", feature_names=["d", "e", "f"], space="s")


@pytest.fixture(scope="module")
def solved():
    return Solutions(solve(problems(), db=None, keep=[HOSTILE], **QUICK))


def test_a_solution_and_a_stream_are_shown_with_every_value_escaped(solved):
    for shown in (solved._repr_html_(), *(each._repr_html_() for each in solved)):
        assert set(Tags(shown).found) <= {"p", "b", "table", "thead", "tbody", "tr", "th", "td"}
        assert "\x1b" not in shown
    assert "&lt;script&gt;alert(1)" in solved._repr_html_()
    assert "1 of 3 features" in solved[0]._repr_html_() or "2 of 3" in solved[0]._repr_html_()


def test_the_table_of_a_stream_has_a_row_for_each_problem_and_says_why_one_failed(solved):
    assert isinstance(solved, list) and len(solved) == 2
    shown = solved._repr_html_()
    assert shown.count("<tr>") == 3
    assert "bad: " in shown and "has no column" in shown


def test_an_estimator_shows_its_diagram_and_what_was_chosen():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)), columns=[HOSTILE, "b", "c"])
    y = (X["b"] > 0).astype(int)
    selector = MetaSelector("fisher", params={"n_features_to_select": 1})
    assert "1 of 3 features" not in selector._repr_html_()
    selector.fit(X, y)
    shown = selector._repr_html_()
    assert "1 of 3 features" in shown and '<td style="text-align: left">b</td>' in shown
    assert "MetaSelector" in shown and "sk-top-container" in shown
    assert selector._repr_mimebundle_()["text/html"].count("1 of 3 features") == 1
    selector.set_params(params={"n_features_to_select": 3}).fit(X, y)
    assert "<script>alert(1)" not in selector._repr_html_()
    assert "1 of 3 features" not in clone(selector)._repr_html_()
    make_pipeline(StandardScaler(), selector)._repr_html_()


def test_progress_is_silent_where_nobody_would_see_it(capsys):
    assert len(list(solve(list(problems())[1:], db=None, progress=True, **QUICK))) == 1
    assert capsys.readouterr() == ("", "")


def test_a_notebook_sees_one_line_that_is_rewritten(monkeypatch):
    """With the two functions of IPython that are called: a cell's output with a handle."""
    shown = []

    class Handle:
        def update(self, content, raw):
            shown.append(content["text/plain"])

    class Display:
        @staticmethod
        def display(content, raw, display_id):
            assert raw and display_id
            shown.append(content["text/plain"])
            return Handle()

    monkeypatch.setitem(sys.modules, "ipykernel", Display)
    monkeypatch.setitem(sys.modules, "IPython", Display)
    monkeypatch.setitem(sys.modules, "IPython.display", Display)
    assert Progress(3).is_shown
    assert len(list(solve(list(problems())[1:], db=None, progress=True, **QUICK))) == 1
    assert shown[0] == "[1/1] bad: reading" and shown[-1] == ""
