import numpy as np
import pytest

from metafs_metadb import BeliefRow, ProblemRow, ReferenceRows, RunRow, SelectionRows
from metafs_metadb.models import basis

from ..building import STARTED

NAMES = ("a", "b", "c", "d")
REFERENCE = ReferenceRows(
    preparation="standard",
    n_labels=10,
    outputs=["x", "y", "z"],
    places=[[3, 0], [1], [0, 1, 2, 3]],
    weights=[[-2.0, 1.0], [0.5], [0.1, 0.2, 0.3, 0.4]],
    rest_norms=[0.25, 0.0, 0.0],
    regularisation=10.0,
    transfers=[(2, 0.0, 0.7), (2, 1.0, 0.5)],
)


def learned(db, name, reference=REFERENCE, *, names=NAMES, space="default", source=None, **more):
    problem = ProblemRow(space, name, source or f"{name}.csv", name, 10, len(names), "y")
    run = RunRow("climb", "none", STARTED, "0.1.0", settings=more.pop("settings", "one"))
    numbers = np.arange(len(names))
    selections = SelectionRows(
        names,
        relevance=0.1 * numbers,
        document_frequency=np.full(len(names), 0.5),
        mean=numbers,
        spread=np.where(numbers == 0, np.nan, 2.0),
        weight=numbers,
        from_memory=0.5 * numbers,
    )
    return db.record(problem, run, selections=selections, reference=reference, **more)


def acquainted(db, *hashes):
    return db.acquainted("default", "p", ("b", "new"), np.array(hashes, np.uint64))


def test_a_reference_model_comes_back(db):
    recorded = learned(db, "p", row_hashes=np.array([2**63, 7], np.uint64))
    (model,) = db.references([99, recorded.problem_id]).values()
    assert (model.run_id, model.source, model.n_samples) == (recorded.run_id, "p.csv", 10)
    assert (model.preparation, model.n_labels, model.outputs) == ("standard", 10, ("x", "y", "z"))
    ids = db.feature_ids("default", NAMES)
    assert acquainted(db).feature_ids.tolist() == [ids[1], 0]
    assert [each.tolist() for each in model.weight_ids] == [[ids[0], ids[3]], [ids[1]], [*ids]]
    assert [each.tolist() for each in model.weights][:2] == [[1.0, -2.0], [0.5]]
    assert model.feature_ids.tolist() == ids.tolist()
    np.testing.assert_allclose(model.relevance, [0.0, 0.1, 0.2, 0.3], rtol=1e-6)
    np.testing.assert_allclose(model.spread, [np.nan, 2.0, 2.0, 2.0])
    assert [each[:2] for each in model.transfers] == [(2, 0.0), (2, 1.0)]
    assert db.check() == []


def test_a_number_has_one_direction_without_a_name(db):
    one = ReferenceRows("standard", 10, [None], [[1]], [[3.0]], [0.0])
    recorded = learned(db, "p", one)
    (model,) = db.references([recorded.problem_id]).values()
    assert model.outputs == (None,) and model.weights[0].tolist() == [3.0]
    assert model.transfers == ()


def test_weights_that_have_not_seen_rows_set_apart_come_back(db):
    one = ReferenceRows("standard", 10, [None], [[1, 3]], [[3.0, 2.0]], [0.0], apart=[[2.5, 1.0]])
    recorded = learned(db, "p", one)
    (model,) = db.references([recorded.problem_id]).values()
    assert [each.tolist() for each in model.apart] == [[2.5, 1.0]]
    other = learned(db, "q")
    assert db.references([other.problem_id])[other.problem_id].apart is None
    assert db.check() == []


def test_equal_content_keeps_its_first_model(db):
    learned(db, "other")
    assert acquainted(db).lacks_reference
    first = learned(db, "p")
    assert not acquainted(db).lacks_reference
    again = learned(db, "p", settings="two", row_hashes=np.array([1], np.uint64))
    assert again.run_id != first.run_id and again.problem_id == first.problem_id
    assert db.references([first.problem_id])[first.problem_id].run_id == first.run_id
    assert list(db.sql("select count(*) from weight")[1]) == [(14,)]
    assert db.check() == []


def test_problems_that_share_rows_are_told(db):
    p = learned(db, "p", row_hashes=np.array([1, 2, 2**64 - 1], np.uint64))
    learned(db, "q", row_hashes=np.array([4], np.uint64))
    learned(
        db, "r", row_hashes=np.array([1], np.uint64), space="other", names=("a",), reference=None
    )
    assert acquainted(db, 9, 2**64 - 1).sharing == {p.problem_id: "p.csv"}
    assert acquainted(db, 3).sharing == acquainted(db).sharing == {}


def test_belief_is_kept_with_its_run(db):
    p = learned(db, "p", belief=BeliefRow(3.0, "because", 0.1, [4, 0], ["x", None], [[0.5, 0.25]]))
    belief = db.belief(p.run_id)
    assert (belief.strength, belief.reason, belief.gain) == (3.0, "because", 0.1)
    assert list(belief.problem_ids) == [4, 0] and list(belief.outputs) == ["x", None]
    np.testing.assert_allclose(belief.coefficients, [0.5, 0.25])
    assert db.belief(p.run_id + 1) is None
    assert db.check() == []


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        ("delete from weight where weight < 0", "table weight has 6 rows where 7 were recorded"),
        ("delete from weight where weight < 0", "run 1 has 6 weight rows where it recorded 7"),
        ("update weight set weight = 'inf' where weight < 0", "1 weights of run 1 are not finite"),
        ("update weight set feature_id = 77 where weight < 0", "1 rows of weight refer to feature"),
        ("insert into row_sketch values (9, 1)", "rows of row_sketch refer to problem_id 9"),
        (
            "insert into basis values ('s', 0, 1, 1, 'abcdefgh', 'abc')",
            "part 0 of the basis of space s is",
        ),
    ],
)
def test_check_finds(db, damage, sentence):
    learned(db, "p")
    with db.writing() as con:
        con.execute(damage)
    assert any(sentence in finding for finding in db.check()), db.check()


def test_the_basis_follows_what_is_recorded(db, monkeypatch):
    monkeypatch.setattr(basis, "FIRST", 1)
    monkeypatch.setattr(basis, "EVERY", 1)
    rng = np.random.default_rng(0)
    common = rng.normal(size=4)
    for number in range(24):
        weights = common + 0.01 * rng.normal(size=4)
        reference = ReferenceRows("standard", 10, [None], [np.arange(4)], [weights], [0.0])
        learned(db, f"p{number}", reference)
    parts = db.basis("default")
    assert db.basis("elsewhere") == {}
    assert sum(part.n_runs for part in parts.values()) > 12
    unit = common / np.linalg.norm(common)
    for part in parts.values():
        first = np.zeros(4)
        first[part.feature_ids - 1] = part.weights[0]
        assert abs(first @ unit) / np.linalg.norm(first) > 0.999
    left_out = basis.part_of("p3.csv")
    assert set(db.basis("default", ["p3.csv"])) == set(parts) - {left_out}
    assert db.check() == []


def test_a_basis_keeps_what_long_directions_share_in_bounded_room(monkeypatch):
    monkeypatch.setattr(basis, "MOST_FEATURES", 5)
    rng, part = np.random.default_rng(1), basis.NOTHING
    main = np.array([3.0, -2.0, 1.0])
    for number in range(40):
        ids = np.sort(np.append(rng.choice(np.arange(3, 1000), 20, replace=False), [0, 1, 2]))
        directions = 0.1 * rng.normal(size=(2, 23))
        directions[:, :3] += rng.choice([-1, 1], size=(2, 1)) * main
        part = basis.extended(part, ids, directions, 1, number)
    assert part.n_runs == 40 and part.upto == 39
    assert part.weights.shape[1] == 5 and len(part.weights) <= basis.RANK
    assert part.feature_ids[:3].tolist() == [0, 1, 2]
    cosine = part.weights[0, :3] @ main / np.linalg.norm(main) / np.linalg.norm(part.weights[0])
    assert abs(cosine) > 0.99
