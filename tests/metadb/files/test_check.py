import duckdb
import pytest

from metafs_metadb import MetaDB, NeighbourRow

from ..building import record


@pytest.fixture
def db(tmp_path):
    db = MetaDB(tmp_path / "metafs.duckdb")
    record(db, "p1")
    record(db, "p2", transfer="guided", neighbours=[NeighbourRow(1, 1, 0.5, 2.0)])
    return db


def test_a_sound_file_has_no_findings(db):
    assert db.check() == []


@pytest.mark.parametrize(
    ("tampering", "finding"),
    [
        (
            "delete from selection where run_id = 1 and rank = 1",
            "table selection has 5 rows where 6 were recorded",
        ),
        (
            "delete from selection where run_id = 1 and rank = 1",
            "run 1 has 2 selection rows where it recorded 3",
        ),
        ("delete from candidate where run_id = 2", "run 2 has 0 candidate rows where"),
        ("delete from neighbour", "run 2 has 0 neighbour rows where it recorded 1"),
        ("delete from run where run_id = 2", "table run has 1 rows where 2 were recorded"),
        ("delete from run where run_id = 2", "3 rows of selection refer to run_id 2"),
        ("delete from problem where problem_id = 1", "refer to problem_id 1, which no problem"),
        ("delete from feature where name = 'a'", "rows of selection refer to feature_id 1"),
        ("delete from tally where table_name = 'run'", "table run is missing from the tally"),
        ("update candidate set features = [77]", "6 sets in candidate hold feature_id 77"),
        ("update neighbour set problem_id = 77", "1 rows of neighbour refer to problem_id 77"),
        ("update run set problem_id = 77", "2 rows of run refer to problem_id 77"),
        ("update signature set problem_id = 77", "of signature refer to problem_id 77"),
        ("update signature set key = 5", "repeats 1 of its keys"),
        ("update signature set p = 0.4", "sums to 0.8 instead of 1"),
        ("update signature set p = case key when 1 then 1.5 else -0.5 end", "2 probabilities"),
        ("update signature set p = 'nan'", "sums to nan instead of 1"),
        ("update problem set fingerprint = 'x'", "2 rows of problem have the same fingerprint"),
        ("update problem set problem_id = 1", "2 rows of problem have the same problem_id: 1"),
        ("update feature set name = 'a'", "3 rows of feature have the same space, name"),
        ("update run set run_id = 1", "2 rows of run have the same run_id: 1"),
        (
            "update run set problem_id = 1, settings = 'one'",
            "2 rows of run have the same problem_id, settings: 1 one",
        ),
        ("update migration set digest = 'x' where number = 1", "0001_memory was applied in anoth"),
    ],
)
def test_each_kind_of_tampering_is_found(db, tampering, finding):
    with duckdb.connect(str(db.path)) as con:
        con.execute(tampering)
    findings = db.check()
    assert any(finding in said for said in findings), findings
    assert all("\n" not in said for said in findings)
