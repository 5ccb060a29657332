"""Where models were saved, and what the linear model needs to predict."""

import duckdb
import numpy as np
import pytest

from metafs_metadb import LinearRows, MetaDB, ReferenceRows

from ..building import record
from .test_weights import NAMES, learned

LINEAR = LinearRows(
    classes=("a", "b"),
    intercepts=[0.5],
    slope=2.0,
    places=[0, 2],
    words=[False, True],
    centre=[1e9, 0.0],
    factor=[1e-9, np.nan],
    labels=[("f", "m"), None],
)
REFERENCE = ReferenceRows("mixed", 10, ["b"], [[0]], [[3.0]], [4.0], linear=LINEAR)


@pytest.fixture
def db(tmp_path):
    return MetaDB(tmp_path / "m.duckdb")


def test_the_latest_file_of_a_problem_is_remembered(db):
    first, second = record(db, "p"), record(db, "q")
    fingerprint = db.find_problem("p")["fingerprint"]
    assert db.saved_model(first.problem_id) is None
    assert db.remember_model(fingerprint, "/models", "p.metafs")
    assert db.remember_model(fingerprint, "/other", "p.metafs")
    assert db.saved_model(first.problem_id) == ("/other", "p.metafs")
    assert db.saved_model(second.problem_id) is None
    assert not db.remember_model("unknown", "/models", "p.metafs")
    assert db.check() == []


def test_a_linear_model_comes_back(db):
    recorded = learned(db, "p", REFERENCE)
    found = db.linear_model(recorded.problem_id)
    assert (found.preparation, found.classes, found.slope) == ("mixed", ("a", "b"), 2.0)
    order = [found.names.index(name) for name in NAMES]
    assert found.intercepts.tolist() == [0.5] and found.rest_norms.tolist() == [4.0]
    assert found.words[order].tolist() == [False, False, True, False]
    assert found.centre[order][0] == 1e9
    np.testing.assert_array_equal(np.isnan(found.factor[order]), [False, True, True, True])
    assert [found.labels[j] for j in order] == [("f", "m"), None, None, None]
    assert found.weights[:, order].tolist() == [[3.0, 0.0, 0.0, 0.0]]
    assert db.linear_model(99) is None
    assert db.check() == []


def test_lost_rows_are_found(db):
    recorded = learned(db, "p", REFERENCE)
    db.remember_model("p", "/models", "p.metafs")
    assert db.saved_model(recorded.problem_id) is not None
    db.fold()
    with duckdb.connect(str(db.path)) as con:
        con.execute("delete from reference_column where word")
        con.execute("delete from saved_model")
    assert sorted(db.check()) == [
        "run 1 has 1 reference_column rows where it recorded 2",
        "table reference_column has 1 rows where 2 were recorded",
        "table saved_model has 0 rows where 1 were recorded",
    ]


def test_what_predicts_is_forgotten_with_its_problem_and_stays_with_others(db):
    for name in ("gone", "stays"):
        learned(db, name, REFERENCE)
        assert db.remember_model(db.find_problem(name)["fingerprint"], f"/models {name}", "m")
    before = db.linear_model(2)
    db.forget([1])
    assert db.linear_model(1) is None and db.saved_model(1) is None
    assert db.saved_model(2) == ("/models stays", "m")
    assert db.linear_model(2).names == before.names
    np.testing.assert_array_equal(db.linear_model(2).centre, before.centre)
    assert list(db.sql("select count(*) from reference_column")[1]) == [(2,)]
    assert b"/models gone" not in db.path.read_bytes()
    assert db.check() == []


def test_an_export_predicts_and_names_no_folder_of_this_machine(db, tmp_path):
    recorded = learned(db, "p", REFERENCE)
    db.remember_model(db.find_problem("p")["fingerprint"], "/secret folder", "m")
    db.export(tmp_path / "share.duckdb")
    share = MetaDB(tmp_path / "share.duckdb")
    assert share.saved_model(1) is None and b"secret folder" not in share.path.read_bytes()
    found, own = share.linear_model(1), db.linear_model(recorded.problem_id)
    assert (found.names, found.labels, found.classes) == (own.names, own.labels, own.classes)
    np.testing.assert_array_equal(found.weights, own.weights)
    assert share.check() == []
    db.fold()
    list(share.merge([db.path]))
    assert share.saved_model(1) is None and share.check() == []


def test_a_merge_leaves_where_models_were_saved_here(db, tmp_path):
    other = MetaDB(tmp_path / "other.duckdb")
    for each, name in ((db, "p"), (other, "p"), (other, "q")):
        learned(each, name, REFERENCE)
        each.remember_model(each.find_problem(name)["fingerprint"], str(each.path), "m")
    assert [each.error for each in db.merge([other.path])] == [None]
    assert db.saved_model(1) == (str(db.path), "m") and db.saved_model(2) is None
    assert db.linear_model(2).names == other.linear_model(2).names
    assert db.check() == []
