"""The best run and the relative score mean the same wherever the MetaDB is asked."""

from itertools import count
from math import inf, nan

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from metafs.transfer.expectation import relative_scores
from metafs_metadb import MetaDB, ProblemRow, RunRow, SelectionRows
from metafs_metadb.definitions import BEST_FIRST
from metafs_metadb.files.migrate import known

from .building import STARTED

NAMES = ("a", "b", "c")


def solved(db, problem, number, *, score, n_evaluations, q, space="default"):
    return db.record(
        ProblemRow(space, problem, f"{problem}.csv", f"print of {space} {problem}", 10, 3, "y"),
        RunRow(
            "climb",
            "none",
            STARTED,
            "0.1.0",
            score=score,
            n_evaluations=n_evaluations,
            settings=str(number),
        ),
        selections=SelectionRows(NAMES, q=q, selected=[True, False, False]),
        meta_features={"size": [1, 2, 3]},
    )


RUN = st.tuples(
    st.sampled_from("pq"),
    st.sampled_from([None, nan, 0.5, 0.7, -inf]),
    st.sampled_from([None, 3, 9]),
    st.lists(st.sampled_from([nan, inf, -inf, 0.0, 0.5, 1e308, 1e-308]), min_size=3, max_size=3),
)


@pytest.fixture(scope="module")
def shared_db(tmp_path_factory):
    db = MetaDB(tmp_path_factory.mktemp("m") / "m.duckdb")
    db.ensure()
    return db


SPACES = count()


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(RUN, min_size=1, max_size=5))
def test_every_way_to_ask_agrees_on_the_best_run_and_its_relative_scores(shared_db, runs):
    db, space, scores = shared_db, str(next(SPACES)), {}
    for number, (problem, score, n_evaluations, q) in enumerate(runs):
        run = {"score": score, "n_evaluations": n_evaluations, "q": q}
        scores[solved(db, problem, number, space=space, **run).run_id] = q
    query = "select problem_id, run_id from best_run join problem using (problem_id) where space = "
    best = dict(db.sql(f"{query} '{space}'")[1])
    assert {each.problem_id: each.run_id for each in db.experience([*best]).values()} == best
    assert {each: db.stored_run(each).run["run_id"] for each in best} == best
    relative = np.array([relative_scores(np.array(scores[run])) for run in best.values()])
    assert db.feature_history(space, NAMES).n_problems.tolist() == [len(best)] * len(NAMES)
    experience = db.feature_experience(space, limit=9)
    np.testing.assert_allclose(experience.relative, relative.mean(axis=0))


def test_the_view_has_the_order_that_the_queries_have():
    made = [each.sql for each in known() if "create view best_run" in each.sql]
    assert made and all(BEST_FIRST.replace("r.", "") in each for each in made)


def test_an_infinite_score_is_the_best_one(tmp_path):
    db = MetaDB(tmp_path / "m.duckdb")
    db.ensure()
    solved(db, "p", 0, score=0.5, n_evaluations=1, q=[inf, 1.0, nan])
    assert db.feature_experience("default", limit=9).relative.tolist() == pytest.approx(
        [1.0, 0.0, 0.0]
    )
