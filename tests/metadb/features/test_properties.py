"""Properties of features in the file: told, corrected, asked for, checked, and migrated."""

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metafs_metadb import MetaDB, MetaDBOutdated, ProblemRow, RunRow, SelectionRows
from metafs_metadb.files import migrate as migrations

from ..building import STARTED, record

NAMES = ("a", "b", "c")


def results(
    db, name="p", *, space="default", source="p.csv", score=0.5, meta_features=None, **columns
):
    """Record one run on a problem, with columns of its selection."""
    values = {"q": [0.4, 0.2, 0.0], "quality": [0.6, 0.0, 0.0], "selected": [True, False, False]}
    return db.record(
        ProblemRow(space, name, source, f"print of {space} {name}", 10, 3, "y"),
        RunRow("climb", "none", STARTED, "0.1.0", score=score),
        selections=SelectionRows(NAMES, **(values | columns)),
        meta_features=meta_features,
    )


def stored(db):
    query = """select f.name, m.name, m.value from meta_feature m join feature f using (feature_id)
               order by 1, 2"""
    return list(db.sql(query)[1])


def test_what_is_told_is_kept_once_and_unknown_values_have_no_row(db):
    described = {"size": [1, 2, np.nan], "kind": [7, 7, 7]}
    for name in ("p", "q"):
        results(db, name, meta_features=described)
    assert stored(db) == [
        ("a", "kind", 7),
        ("a", "size", 1),
        ("b", "kind", 7),
        ("b", "size", 2),
        ("c", "kind", 7),
    ]
    assert db.check() == []


def test_what_is_told_last_is_what_is_known(db):
    results(db, "p", meta_features={"size": [1, 2, 3]})
    results(db, "q", meta_features={"size": [1, np.nan, 5]})
    assert stored(db) == [("a", "size", 1), ("b", "size", 2), ("c", "size", 5)]
    assert db.check() == []


def test_equal_names_in_two_spaces_are_two_features(db):
    results(db, "p", space="one", meta_features={"size": [1, 2, 3]})
    results(db, "p", space="two", meta_features={"size": [4, 5, 6]})
    results(db, "p", space="three")
    assert db.described_spaces() == ["one", "two"]
    found = db.feature_experience("two", limit=10)
    assert found.meta_features.tolist() == [[4], [5], [6]]
    assert len(db.feature_experience("three", limit=10)) == 0


def test_columns_of_another_length_are_refused_and_nothing_is_written(db):
    with pytest.raises(ValueError, match="one value for each feature"):
        results(db, meta_features={"size": [1, 2]})
    assert db.problems().rows == []


def test_how_features_fared_is_averaged_over_the_problems_that_had_them(db):
    described = {"size": [1, 2, np.nan]}
    results(db, "p", meta_features=described)
    results(db, "q", q=[1.0, 4.0, 2.0], quality=[0.2, 0.4, 0.0], selected=[True, True, False])
    found = db.feature_experience("default", limit=10)
    assert found.names == ("a", "b")  # nothing is known of c
    assert found.n_problems.tolist() == [2, 2]
    np.testing.assert_allclose(found.quality, [0.4, 0.2])
    np.testing.assert_allclose(found.selected, [1.0, 0.5])
    np.testing.assert_allclose(found.relative, [(1.0 + 0.25) / 2, (0.5 + 1.0) / 2])


def test_only_the_best_run_of_a_problem_speaks(db):
    results(db, "p", meta_features={"size": [1, 2, 3]})
    results(db, "p", score=0.9, quality=[0.0, 0.0, 0.9], selected=[False, False, True])
    found = db.feature_experience("default", limit=10)
    assert found.quality.tolist() == [0.0, 0.0, 0.9]
    assert found.n_problems.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("which", "n_problems"),
    [
        ({}, 3),
        ({"limit": 2}, 2),
        ({"exclude_fingerprint": "print of default p"}, 2),
        ({"exclude_name": "q"}, 2),
        ({"exclude_source": "p.csv"}, 1),
    ],
)
def test_problems_can_be_left_out(db, which, n_problems):
    results(db, "p", meta_features={"size": [1, 2, 3]})
    results(db, "q")
    results(db, "r", source="r.csv")
    found = db.feature_experience("default", **({"limit": 10} | which))
    assert set(found.n_problems.tolist()) == {n_problems}


@settings(max_examples=20, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.lists(st.sampled_from([0.0, 0.5, np.nan]), min_size=3, max_size=3),
            st.lists(st.sampled_from([0.0, 0.5, 2.0]), min_size=3, max_size=3),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_the_answer_is_that_of_a_plain_loop(tmp_path_factory, problems):
    db = MetaDB(tmp_path_factory.mktemp("db") / "metafs.duckdb")
    size, outcomes = {}, {name: [] for name in NAMES}
    for number, (sizes, q) in enumerate(problems):
        results(db, f"p{number}", q=q, meta_features={"size": sizes})
        size |= {n: s for n, s in zip(NAMES, sizes, strict=True) if not np.isnan(s)}
        for name, score in zip(NAMES, q, strict=True):
            outcomes[name].append(score / max(q) if max(q) else 0.0)
    found = db.feature_experience("default", limit=100)
    assert found.names == tuple(name for name in NAMES if name in size)
    for row, name in enumerate(found.names):
        assert found.meta_features[row].tolist() == [size[name]]
        assert found.relative[row] == pytest.approx(np.mean(outcomes[name]))
    assert db.check() == []


@pytest.mark.parametrize(
    ("tampering", "finding"),
    [
        ("delete from meta_feature", "table meta_feature has 0 rows where 3 were recorded"),
        ("update meta_feature set feature_id = 77", "3 rows of meta_feature refer to feature_id"),
        ("insert into meta_feature from meta_feature", "have the same feature_id, name: 1 size"),
    ],
)
def test_tampering_is_found(db, tampering, finding):
    results(db, meta_features={"size": [1, 2, 3]})
    with duckdb.connect(str(db.path)) as con:
        con.execute(tampering)
    assert any(finding in said for said in db.check())


def test_a_file_of_schema_3_waits_for_migrate_and_then_takes_properties(db, monkeypatch):
    whole = migrations.known()
    monkeypatch.setattr(migrations, "known", lambda: whole[:3])
    db.ensure()
    monkeypatch.undo()
    with pytest.raises(MetaDBOutdated, match="lacks migration 0004_meta_features"):
        record(db, "p")
    assert db.migrate() == [
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
    results(db, meta_features={"size": [1, 2, 3]})
    assert db.check() == []
