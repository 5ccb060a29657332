"""Sums over all problems are right after whatever was added to them."""

import shutil

import numpy as np
import pytest

from metafs_metadb import MetaDB
from metafs_metadb.features import feature_sums
from metafs_metadb.search import index_cache

from ..indexing import ASKED, answers, by_sql, record_by_sql, record_run, vars_of

pytestmark = pytest.mark.usefixtures("indexed")


def test_own_runs_are_added_without_asking_for_them(db, monkeypatch):
    record_run(db)
    answers(db)

    def asked(self, con, upto):
        raise AssertionError("the database was asked for what this process has just recorded")

    monkeypatch.setattr(feature_sums.FeatureSums, "catch_up", asked)
    monkeypatch.setattr(index_cache, "FEWEST_TO_WRITE", 100)
    for number, q in enumerate((0.3, 1e-320, np.inf, np.nan, -1.0)):
        record_run(
            db, {"a": (q, True), f"new {number}": (1.0, False)}, f"new {number}", source="q.csv"
        )
        record = db.feature_history("default", ASKED, exclude_source="p.csv")
        expected = record_by_sql(db, "default", ASKED, exclude_source="p.csv")
        assert record.n_solved == expected.n_solved == number + 1
        for own, by_sql_alone in zip(vars_of(record), vars_of(expected), strict=True):
            np.testing.assert_array_equal(own, by_sql_alone)
    with pytest.raises(AssertionError, match="just recorded"):
        record_run(MetaDB(db.path), name="from elsewhere")
        db.feature_history("default", ASKED)


def test_own_runs_of_a_database_that_was_put_back_are_forgotten(db):
    for name in ("p", "q", "r"):
        record_run(db, name=name)
    answers(db)  # writes sums down, which fit the copy too
    shutil.copy(db.path, db.path.with_name("copy"))
    record_run(db, {"a": (0.3, True)}, "own")
    shutil.copy(db.path.with_name("copy"), db.path)
    record_run(MetaDB(db.path), {"b": (1.0, True)}, "of the same id", score=0.7)
    assert answers(db) == by_sql(db)


def test_an_error_halfway_leaves_no_half_sums(db, monkeypatch):
    record_run(db)
    answers(db)
    record_run(db, {"a": (0.5, False)}, score=0.9)

    calls = []

    def fail_late(con, speaking, query):
        calls.append(len(speaking))
        if len(calls) == 2:
            raise KeyboardInterrupt
        return run_totals(con, speaking, query)

    run_totals = feature_sums._run_totals
    monkeypatch.setattr(feature_sums, "_run_totals", fail_late)
    with pytest.raises(KeyboardInterrupt):
        db.feature_history("default", ["a"])
    monkeypatch.setattr(feature_sums, "_run_totals", run_totals)
    assert answers(db) == by_sql(db)


def test_sources_are_left_out_in_turn_as_they_are_by_themselves(db):
    for number, source in enumerate(("p.csv", "q.csv", "q.csv", "r.csv", "p.csv")):
        record_run(db, {"a": (0.1 * number, True), "b": (1.0, False)}, f"p{number}", source=source)
    sources = (None, "q.csv", "nowhere", "p.csv", "q.csv")
    for left_out in ({}, {"exclude_name": "p3"}, {"exclude_name": "p0"}):
        together = db.remembered((), "default", ASKED, sources, **left_out)[1]
        alone = [
            record_by_sql(db, "default", ASKED, exclude_source=each, **left_out) for each in sources
        ]
        assert [each.n_solved for each in together] == [each.n_solved for each in alone]
        for one, other in zip(together, alone, strict=True):
            np.testing.assert_array_equal(vars_of(one), vars_of(other))
