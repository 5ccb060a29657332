"""Files that older versions of metafs have written: one of each schema, upgraded."""

import gzip
from pathlib import Path

import duckdb
import numpy as np
import pytest

from metafs_metadb import MetaDB, MetaDBOutdated
from metafs_metadb.files.migrate import known

from ..models.test_weights import learned

ASSETS = Path(__file__).parent / "assets"
SCHEMAS = tuple(int(each.name[7:11]) for each in sorted(ASSETS.glob("schema_*.duckdb.gz")))


def unpacked(folder, number):
    """Return the path of a MetaDB that an older metafs has written."""
    path = folder / f"schema_{number:04}.duckdb"
    path.write_bytes(gzip.decompress((ASSETS / f"{path.name}.gz").read_bytes()))
    return path


def test_a_file_of_each_schema_since_0004_is_kept():
    assert list(SCHEMAS) == list(range(4, len(known())))


@pytest.mark.parametrize("number", SCHEMAS)
def test_a_file_of_each_schema_is_upgraded_and_goes_on(tmp_path, number):
    path = unpacked(tmp_path, number)
    missing = [f"{each.number:04}_{each.name}" for each in known()][number:]
    with pytest.raises(MetaDBOutdated, match=f"lacks migration {missing[0]}"):
        MetaDB(path).problems()
    db = MetaDB(path)
    assert db.migrate() == missing
    assert db.check() == []
    ids = [row[0] for row in db.problems().rows]
    assert len(ids) == len(db.experience(ids)) == 4
    assert len(db.references(ids)) == (0 if number < 5 else 4)
    if number < 8:  # the models of later ones predict from the MetaDB alone
        assert all(db.saved_model(each) is None for each in ids)
    if 5 <= number < 8:
        assert all(db.linear_model(each).intercepts is None for each in ids)
    learned(db, "new")
    assert db.check() == []


def test_a_file_of_schema_5_keeps_both_scores(tmp_path):
    path = unpacked(tmp_path, 5)
    with duckdb.connect(str(path), read_only=True) as con:
        before = con.execute(
            "select run_id, score, optimistic_score from run order by 1"
        ).fetchall()
    db = MetaDB(path)
    db.migrate()
    assert list(db.sql("select run_id, score, non_nested_score from run order by 1")[1]) == before
    _, found = db.sql("select n_runs, mean_non_nested_score from leaderboard")
    assert next(iter(found)) == (4, pytest.approx(np.mean([row[2] for row in before])))
