"""The history of features over all problems of a space, against a count problem by problem."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from metafs.data.problem import Problem
from metafs.memory.memory import Memory
from metafs_metadb import MetaDB, ProblemRow, RunRow, SelectionRows

from ..building import STARTED

WORDS = ("a", "b", "c", "d", "é 'f'")


def record_run(db, run, name="p", *, space="default", source="p.csv", score=0.5, status="solved"):
    """Record one run: name of feature -> (q, selected)."""
    return db.record(
        ProblemRow(space, name, source, f"print of {space} {name} {source}", 10, 3, "y"),
        RunRow("climb", "none", STARTED, "0.1.0", score=score, status=status),
        selections=SelectionRows(
            tuple(run),
            q=[q for q, _ in run.values()],
            selected=[selected for _, selected in run.values()],
        ),
    )


def reference(db, space, names, fingerprint=None, name=None, source=None):
    """Ask every problem for its best run and add up what it says of each name."""
    table = db.problems(space)
    n_solved, found = 0, np.zeros((2, len(names)), int)
    for row in table.rows:
        problem = dict(zip(table.columns, row, strict=True))
        if problem["excluded"] or problem["fingerprint"] == fingerprint:
            continue
        if problem["name"] == name or problem["source"] == source:
            continue
        for best in db.experience([problem["problem_id"]]).values():
            n_solved += 1
            for feature, selected in zip(best.names, best.selected, strict=True):
                for place in np.flatnonzero([each == feature for each in names]):
                    found[:, place] += [1, selected]
    return n_solved, found


def rows_of(record):
    return np.array([record.n_problems, record.n_selected])


def assert_is(record, expected):
    n_solved, found = expected
    assert record.n_solved == n_solved
    np.testing.assert_array_equal(rows_of(record), found)


qs = st.sampled_from([0.0, 0.1, 0.3, 1.0, 7.0, -2.0, np.nan, np.inf])
runs = st.fixed_dictionaries(
    {
        "run": st.dictionaries(st.sampled_from(WORDS), st.tuples(qs, st.booleans()), max_size=4),
        "name": st.sampled_from(["p", "q", "r"]),
        "space": st.sampled_from(["default", "default", "other"]),
        "source": st.sampled_from(["p.csv", "q.csv"]),
        "score": st.sampled_from([None, 0.1, 0.5, 0.9]),
        "status": st.sampled_from(["solved", "solved", "solved", "failed"]),
    }
)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(results=st.lists(runs, max_size=8), n_excluded=st.integers(0, 2))
def test_the_record_is_the_sum_over_best_runs(tmp_path_factory, results, n_excluded):
    db = MetaDB(tmp_path_factory.mktemp("db") / "metafs.duckdb")
    db.ensure()
    for run in results:
        record_run(db, **run)
    with db.writing() as con:
        con.execute("update problem set excluded = true where problem_id <= $n", {"n": n_excluded})
    with db.visit():
        check_histories(db, ("e", *WORDS[::-1], "a"))


def check_histories(db, names):
    for space in ("default", "other"):
        assert_is(db.feature_history(space, names), reference(db, space, names))
        for left_out in (
            {"fingerprint": "print of default p p.csv"},
            {"name": "q"},
            {"source": "p.csv"},
            {"fingerprint": "print of default p p.csv", "name": "q", "source": "q.csv"},
        ):
            record = db.feature_history(
                space, names, **{f"exclude_{which}": value for which, value in left_out.items()}
            )
            assert_is(record, reference(db, space, names, **left_out))


def test_a_record_by_hand(tmp_path):
    db = MetaDB(tmp_path / "metafs.duckdb")
    record_run(db, {"a": (4.0, True), "b": (1.0, False), "c": (-1.0, False)}, "p")
    record_run(db, {"a": (0.5, True), "b": (1.0, True)}, "q")
    record_run(db, {"a": (1.0, False), "b": (np.nan, False)}, "q", score=0.9)  # q, solved better
    record = db.feature_history("default", ["b", "unheard of", "a", "c"])
    assert record.n_solved == 2 and len(record) == 4
    assert record.n_problems.tolist() == [2, 0, 2, 1]
    assert record.n_selected.tolist() == [0, 0, 1, 0]


def test_no_names_and_no_problems(tmp_path):
    db = MetaDB(tmp_path / "metafs.duckdb")
    db.ensure()
    assert len(db.feature_history("default", [])) == 0
    record = db.feature_history("default", ["a"])
    assert record.n_solved == 0 and rows_of(record).tolist() == [[0]] * 2


def test_memory_asks_for_the_features_of_a_problem_and_leaves_the_problem_out(tmp_path):
    db = MetaDB(tmp_path / "metafs.duckdb")
    record_run(db, {"a": (1.0, True), "b": (0.5, False)}, "p")
    X = [[0.0, 1.0], [1.0, 0.0], [0.0, 0.0], [1.0, 1.0]]
    problem = Problem.of(X, [0, 1, 0, 1], feature_names=["b", "a"], name="new", space="default")
    memory = Memory(db, distance=None)
    _, (everybody, without_file) = memory.remembered(problem, [], (None, "p.csv"))
    assert everybody.n_selected.tolist() == [0, 1]
    assert without_file.n_solved == 0
    assert memory.remembered(problem, [], (None,), exclude_name="p")[1][0].n_solved == 0
    db.record(
        ProblemRow("default", "new", "", problem.fingerprint, 4, 2, "y"),
        RunRow("climb", "none", STARTED, "0.1.0", score=0.5),
        selections=SelectionRows(("a",), q=[1.0], selected=[True]),
    )
    assert memory.remembered(problem, [], (None,))[1][0].n_problems.tolist() == [1, 1]
