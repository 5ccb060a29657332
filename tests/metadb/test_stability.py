"""Measurements of stability in the file: written whole, checked, and brought to older files."""

import json
from dataclasses import replace

import duckdb
import pytest

from metafs_metadb import MetaDB, MetaDBError, MetaDBOutdated, ProblemRow, StabilityRow
from metafs_metadb.files import migrate as migrations

from .building import record

PROBLEM = ProblemRow("default", "p", "p.csv", "print of p", 10, 3, "y")
ROW = StabilityRow(
    selector="relieff",
    params={"n_neighbors": 5, "also": None},
    n_resamples=20,
    share=0.9,
    bootstrap=False,
    top=10,
    seed=3,
    jensen_shannon=0.75,
    by_chance=0.25,
    jaccard=0.5,
    kuncheva=0.25,
    metafs_version="0.1.0",
)


def rows(db, query="select * exclude (created_at) from stability order by stability_id"):
    columns, found = db.sql(query)
    return [dict(zip(columns, row, strict=True)) for row in found]


def test_a_measurement_is_a_row_also_the_second_time(db):
    assert db.record_stability(PROBLEM, ROW) == 1
    assert db.record_stability(PROBLEM, replace(ROW, top=None, seed=None)) == 2
    first, second = rows(db)
    assert json.loads(first.pop("params")) == {"also": None, "n_neighbors": 5}
    assert first == {
        "stability_id": 1,
        "problem_id": 1,
        "selector": "relieff",
        "n_resamples": 20,
        "share": 0.9,
        "bootstrap": False,
        "top": 10,
        "seed": 3,
        "jensen_shannon": 0.75,
        "by_chance": 0.25,
        "jaccard": 0.5,
        "kuncheva": 0.25,
        "metafs_version": "0.1.0",
    }
    assert (second["problem_id"], second["top"], second["seed"]) == (1, None, None)
    assert db.check() == []


def test_a_problem_is_one_whether_solved_or_measured_first(db):
    db.record_stability(PROBLEM, ROW)
    recorded = record(db, "p")
    record(db, "q")
    db.record_stability(replace(PROBLEM, name="q", fingerprint="print of q"), ROW)
    assert recorded.problem_id == 1
    assert [row["problem_id"] for row in rows(db)] == [1, 2]
    assert len(db.problems().rows) == 2
    assert db.check() == []


def test_a_problem_that_was_only_measured_is_nobodys_neighbour(db):
    db.record_stability(PROBLEM, ROW)
    assert rows(db, "from recallable") == []
    assert db.problems().column("n_runs") == [0]


def test_a_measurement_that_cannot_be_written_leaves_nothing(db):
    record(db, "p")
    with pytest.raises(MetaDBError, match="already remembered in space default"):
        db.record_stability(replace(PROBLEM, space="elsewhere"), ROW)
    with pytest.raises(duckdb.Error):
        db.record_stability(replace(PROBLEM, fingerprint="new"), replace(ROW, jaccard=None))
    assert rows(db) == []
    assert len(db.problems().rows) == 1
    assert db.check() == []


@pytest.mark.parametrize(
    ("tampering", "finding"),
    [
        ("delete from stability", "table stability has 0 rows where 1 were recorded"),
        ("update stability set problem_id = 77", "1 rows of stability refer to problem_id 77"),
        ("insert into stability from stability", "2 rows of stability have the same stability_id"),
        ("delete from tally where table_name = 'stability'", "stability is missing from the tally"),
    ],
)
def test_tampering_is_found(db, tampering, finding):
    db.record_stability(PROBLEM, ROW)
    with duckdb.connect(str(db.path)) as con:
        con.execute(tampering)
    assert any(finding in said for said in db.check())


def test_a_file_of_schema_2_waits_for_migrate_and_then_takes_measurements(db, monkeypatch):
    whole = migrations.known()
    monkeypatch.setattr(migrations, "known", lambda: whole[:2])
    db.ensure()
    monkeypatch.undo()
    db = MetaDB(db.path)  # of a process with a newer metafs
    with pytest.raises(MetaDBOutdated, match="lacks migration 0003_stability"):
        db.record_stability(PROBLEM, ROW)
    assert db.migrate() == [
        "0003_stability",
        "0004_meta_features",
        "0005_weights",
        "0006_nested_scores",
        "0007_trials",
        "0008_models",
        "0009_report",
        "0010_comparisons",
        "0011_learner_candidates",
        "0012_rows_apart",
    ]
    assert db.check() == []
    assert db.record_stability(PROBLEM, ROW) == 1
    record(db, "r")
    assert db.check() == []
    assert len(db.problems().rows) == 2
