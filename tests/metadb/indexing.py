"""What the tests of the indexes share: small memories that are indexed, asked with and without."""

from contextlib import contextmanager

import pytest

from metafs_metadb import MetaDB, ProblemRow, RunRow, SelectionRows
from metafs_metadb.features import feature_history
from metafs_metadb.features.feature_names import feature_ids
from metafs_metadb.search import index_cache

from .building import STARTED, signature

WORDS = ("a", "b", "c", "d", "é 'f'")
ASKED = ("unheard of", *WORDS[::-1], "new 3")


@contextmanager
def limits(n):
    """Index from n rows on, and rewrite files at every turn."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("SELECTIONS_FROM", "SIGNATURES_FROM"):
            patch.setattr(index_cache, name, n)
        patch.setattr(index_cache, "FEWEST_TO_WRITE", 2)
        patch.setattr(index_cache, "MOST_AT_ONCE", 2)
        patch.setattr("metafs_metadb.search.memory_index.FEWEST_TO_MERGE", 3)
        yield


def record_run(
    db, run=None, name="p", *, space="default", source="p.csv", score=0.5, status="solved"
):
    """Record one run: name of feature -> (q, selected)."""
    run = {"a": (1.0, True), "b": (0.5, False)} if run is None else run
    masses = {key: 1.0 for key in (len(run), sum(map(ord, name)) % 3 + 10)}
    return db.record(
        ProblemRow(space, name, source, f"print of {space} {name} {source}", 10, 3, "y"),
        RunRow("climb", "none", STARTED, "0.1.0", score=score, status=status),
        signatures={"jsd": signature({key: 1 / len(masses) for key in masses})}
        if status == "solved"
        else {},
        selections=SelectionRows(
            tuple(run),
            q=[q for q, _ in run.values()],
            selected=[selected for _, selected in run.values()],
        ),
    )


QUESTIONS = (
    ("other", {}),
    ("default", {}),
    ("default", {"exclude_fingerprint": "print of default p p.csv"}),
    ("default", {"exclude_name": "q", "exclude_source": "p.csv"}),
)
QUERY = signature({2: 0.4, 10: 0.2, 11: 0.2, 12: 0.2})


def record_by_sql(db, space, names, **left_out):
    """What `MetaDB.feature_history` returns, by SQL alone."""
    with db.reading() as con:
        ids = feature_ids(con, space, names)
        return feature_history.read(con, ids, space, **left_out)


def answers(db, record_of=MetaDB.feature_history):
    """Everything that an index may answer, as plain values."""
    results = []
    for space, left_out in QUESTIONS:
        record = record_of(db, space, ASKED, **left_out)
        results.append((record.n_solved, *(column.tolist() for column in vars_of(record))))
    return results, db.index("jsd", "default").nearest(*QUERY, 4, exclude_name="r")


def vars_of(record):
    return record.n_problems, record.n_selected


def by_sql(db):
    with limits(10**18):
        results, nearest = answers(MetaDB(db.path), record_by_sql)
        assert db.search("jsd", "default").nearest(*QUERY, 4, exclude_name="r") == nearest
    return results, nearest


def execute(db, statement, **values):
    with db.writing() as con:
        con.execute(statement, values)
        con.execute("checkpoint")
