"""Names have one id each, however it is found."""

import pytest

from metafs_metadb import MetaDB, index_cache, vocabulary

from .indexing import answers, by_sql, execute, limits, record_run

pytestmark = pytest.mark.usefixtures("indexed")


def test_hashes_in_common_are_told_apart(db, monkeypatch):
    """Names of equal length share the first hash here."""
    for name in ("FEATURE_HASHES", "INCOMING_HASHES"):
        query = getattr(index_cache.index_queries, name)
        shared = query.replace("hash(space, name) as one", "strlen(name)::ubigint as one")
        shared = shared.replace(
            "hash($space::varchar, name) as one",
            "if($space = '', 0, strlen(name))::ubigint as one",
        )
        assert shared != query
        monkeypatch.setattr(index_cache.index_queries, name, shared)
    for name in ("p", "q", "r"):
        record_run(db, {"a": (1.0, True), "b": (0.5, False), name: (0.2, True)}, name)
    assert answers(db) == by_sql(db)
    assert db.check() == []


def test_recording_in_a_large_vocabulary_finds_and_adds_names(db):
    first = {f"w{number}": (1.0, True) for number in range(40)}
    record_run(db, first, "p")
    assert (db.path.with_name("metafs.duckdb.index") / "vocabulary.arrays").is_file()
    second = {name: (1.0, True) for name in ("new", "w7", "w39", "newer")}
    record_run(db, second, "q")
    record_run(MetaDB(db.path), {name: (1.0, True) for name in ("newer", "newest", "w1")}, "r")
    record_run(db, {"w1": (1.0, True)}, "s", space="other")
    with db.reading() as con:
        names = con.execute("select space, name from feature order by feature_id").fetchall()
        results = con.execute(
            "select name from selection join feature using (feature_id) where run_id in (2, 3) "
            "order by run_id, rank"
        ).fetchall()
    expected = [*first, "new", "newer", "newest"]
    assert names == [*(("default", name) for name in expected), ("other", "w1")]
    assert [name for (name,) in results] == ["new", "w7", "w39", "newer", "newer", "newest", "w1"]
    assert db.check() == []


def names_of(db):
    return [name for (name,) in db.sql("select name from feature order by feature_id")[1]]


@pytest.mark.parametrize("n", [0, 10**18], ids=["indexed", "small"])
def test_names_at_hand_are_not_looked_up(db, monkeypatch, n):
    def refuse(con, space, names, known):
        raise AssertionError(f"looked up {names}")

    with limits(n):
        record_run(db, {"a": (1.0, True), "b": (0.5, False)}, "p")
        monkeypatch.setattr(index_cache, "feature_ids", refuse)
        record_run(db, {"b": (1.0, True), "a": (0.5, False)}, "q")
        assert db.feature_history("default", ["b", "a"]).n_problems.tolist() == [2, 2]
        for space, name in (("default", "c"), ("other", "a")):
            with pytest.raises(AssertionError, match=f"looked up .'{name}'."):
                db.feature_history(space, ["b", name] if space == "default" else [name])
    assert names_of(db) == ["a", "b"]


def test_a_new_name_is_looked_up_once(db, monkeypatch):
    record_run(db, {"a": (1.0, True)}, "p")
    assert db.feature_history("default", ["a", "new"]).n_problems.tolist() == [1, 0]
    with monkeypatch.context() as patch:
        patch.setattr(index_cache, "feature_ids", None)
        record_run(db, {"new": (1.0, True)}, "q")
    assert names_of(db) == ["a", "new"]
    db.feature_history("default", ["newer"])
    record_run(MetaDB(db.path), {"newer": (1.0, True)}, "recorded by somebody else in between")
    record_run(db, {"newer": (1.0, True)}, "r")
    assert names_of(db) == ["a", "new", "newer"]
    assert db.check() == []


def test_names_of_neighbours_are_at_hand_each_in_its_space(db, monkeypatch):
    ids = [record_run(db, {"a": (1.0, True)}, "p", space=space).problem_id for space in ("x", "y")]
    ids.append(record_run(db, {"b": (1.0, True), "a": (0.5, False)}, "q", space="x").problem_id)
    other = MetaDB(db.path)
    record_run(other, {"c": (1.0, True)}, "r")  # from now on it knows the file again
    best, (record,) = other.remembered(ids, "x", ["a", "b"], (None,))
    assert {each: best[each].names for each in ids} == {
        each: db.experience([each])[each].names for each in ids
    }
    assert record.n_problems.tolist() == [2, 1]
    monkeypatch.setattr(index_cache, "feature_ids", None)
    monkeypatch.setattr(index_cache, "features", lambda con, ids: [] if not len(ids) else None)
    assert other.feature_history("y", ["a"]).n_problems.tolist() == [1]
    assert other.remembered(ids, "x", ["b", "a"], (None,))[1][0].n_problems.tolist() == [1, 2]


def test_a_name_that_was_changed_by_hand_is_another_name(db):
    with limits(10**18):
        record_run(db, {"a": (1.0, True)}, "p")
        execute(db, "update feature set name = 'z' where name = 'a'")
        record_run(db, {"a": (1.0, True)}, "q")
        assert names_of(db) == ["z", "a"]
        assert db.feature_history("default", ["a", "z"]).n_problems.tolist() == [1, 1]


def test_names_of_a_run_that_was_not_recorded_are_not_at_hand(db):
    record_run(db, {"a": (1.0, True)}, "p")
    with pytest.raises(ValueError, match="could not convert"):
        record_run(db, {"new": ("no number", True)}, "q")
    record_run(db, {"new": (1.0, True)}, "q")
    assert names_of(db) == ["a", "new"]
    assert db.check() == []


def test_more_names_than_are_kept_at_hand(db, monkeypatch):
    monkeypatch.setattr(vocabulary, "MOST_AT_HAND", 3)
    for number in range(4):
        record_run(db, {f"w{number + i}": (1.0, True) for i in range(3)}, f"p{number}")
    assert names_of(db) == [f"w{i}" for i in range(6)]
    assert answers(db) == by_sql(db)
    assert db.check() == []
