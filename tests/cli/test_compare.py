"""`metafs compare`: the real command, over files."""

import json
from functools import partial
from html.parser import HTMLParser

import pytest

from . import running

HEADER = ["a", "b", "c", "d", "e", "f", "g", "h", "y"]
BOTH = ["--target", "y", "--folds", 2, "--selector", "climb", "--selector", "fisher"]

run = partial(running.run, "compare")


@pytest.fixture
def tables(tmp_path):
    running.write_tables(tmp_path, [HEADER] * 3)
    return tmp_path


def test_a_table_for_people(tables):
    result = run(tables, *BOTH)
    header, _, climb, fisher = result.stdout.splitlines()
    assert header.split() == [
        *("pipeline", "score", "95", "%", "interval", "rank", "features", "stability", "seconds")
    ]
    assert climb.split()[0] == "climb"
    assert fisher.split()[0] == "fisher"
    assert (
        "3 problems of 3 compared by balanced_accuracy. Wilcoxon's signed-rank test finds"
        in result.stderr
    )
    assert sorted(path.name for path in tables.iterdir()) == ["t0.csv", "t1.csv", "t2.csv"]


def test_json_is_one_object(tables):
    result = run(tables, *BOTH, "--learner", "logistic", "--learner", "naive-bayes", "--json")
    found = json.loads(result.stdout)
    assert list(found) == ["pipelines", "problems", "test"]
    assert list(found["pipelines"]) == [
        f"{selector} + {learner}"
        for selector in ("climb", "fisher")
        for learner in ("logistic", "naive-bayes")
    ]
    scores = [each["pipelines"]["climb + logistic"]["score"] for each in found["problems"]]
    summary = found["pipelines"]["climb + logistic"]
    assert summary["mean_score"] == pytest.approx(sum(scores) / 3)
    assert summary["score_interval"][0] <= summary["mean_score"]
    assert [each["problem"] for each in found["problems"]] == ["t0", "t1", "t2"]
    assert found["test"]["test"] == "friedman"


def test_a_page_with_the_picture(tables):
    page = tables.parent / "page.html"
    result = run(tables, *BOTH, "--selector", "infogain:n_features_to_select=2", "-o", page)
    text = page.read_text()
    seen = _Seen()
    seen.feed(text)
    assert {"svg", "table", "h2"} <= seen.tags
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "critical difference" in text
    assert f"see {page}" in " ".join(result.stderr.split())


class _Seen(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags = set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)


def test_a_problem_that_fails_is_named_and_the_rest_goes_on(tables):
    (tables / "t3.csv").write_text("a,b,y\n1,0,yes\n0,1,no\n1,1,yes\n")
    result = run(tables, *BOTH, code=1)
    assert "failed: t3 (climb): no score: class 'no' has 1 row" in result.stderr
    assert "3 problems of 4 compared" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--selector", "climb"], "at least two selectors or learners"),
        (["--selector", "climb", "--selector", "fischer"], "did you mean fisher?"),
        (["--selector", "climb", "--selector", "fisher:size=3"], "has no parameter 'size'"),
        (["--selector", "climb", "--selector", "fisher", "--learner", "x"], "no learner named 'x'"),
        (["--selector", "climb", "--selector", "fisher", "-o", "none/p.html"], "no folder none"),
    ],
)
def test_bad_input_is_a_sentence(tables, arguments, says):
    result = run(tables, "--target", "y", *arguments, code=2)
    assert says in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


def test_the_memory_is_only_read(tables):
    db = tables.parent / "m.duckdb"
    running.run(
        "solve", "--selector", "climb", tables / "t0.csv", "--target", "y", "--db", db, "--folds", 2
    )
    before = {path.name: path.read_bytes() for path in tables.parent.glob("m.duckdb*")}
    run(tables / "t1.csv", *BOTH, "--db", db)
    assert {path.name: path.read_bytes() for path in tables.parent.glob("m.duckdb*")} == before
    missing = tables.parent / "none.duckdb"
    assert "begins with an empty memory" in run(tables, *BOTH, "--db", missing).stderr
    assert not missing.exists()
