"""Transfer, against the paper's formula written out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metafs.transfer.expectation import TRANSFERS, Experience, expect, expectation, weight
from metafs_metadb import FeatureHistory

UNIT = st.floats(0.0, 1.0, allow_subnormal=False)


def remembered(problem, distance, qualities, q=None, selected=None):
    names = list(qualities)
    quality = np.array([qualities[name] for name in names])
    return Experience(
        problem,
        f"{problem}.csv",
        distance,
        names,
        quality if q is None else np.array(q, dtype=float),
        quality,
        quality > 0 if selected is None else np.array(selected),
    )


def reference_expectation(distances, qualities):
    """P_D(s) = sum_i w(d_i) Q(s, D_i) / sum_i w(d_i), with w(d) = 1/(0.001 + d^2)."""
    expected = []
    for s in range(len(qualities[0])):
        above = sum(Q[s] / (0.001 + d**2) for d, Q in zip(distances, qualities, strict=True))
        below = sum(1 / (0.001 + d**2) for d in distances)
        expected.append(above / below)
    return expected


@given(st.lists(st.tuples(UNIT, st.tuples(UNIT, UNIT, UNIT)), min_size=1, max_size=6))
def test_expectation_is_the_papers(neighbours):
    distances = np.array([d for d, _ in neighbours])
    qualities = np.array([Q for _, Q in neighbours])
    found = expectation(distances, qualities)
    np.testing.assert_allclose(found, reference_expectation(distances, qualities), atol=1e-12)


def test_the_weight_is_the_papers():
    assert weight(0.0) == pytest.approx(1000.0)
    assert weight(0.5) == pytest.approx(1 / 0.251)


def test_paper_starts_from_what_reaches_the_threshold_and_searches_as_published():
    near = [
        remembered("near", 0.2, {"a": 0.9, "b": 0.2, "gone": 0.9}),
        remembered("far", 0.9, {"b": 0.4, "c": 0.9}),
    ]
    prior = expect(near, ["c", "a", "b", "new"], TRANSFERS["paper"], threshold=0.15)
    expected = reference_expectation([0.2, 0.9], [[0, 0.9, 0.2, 0], [0.9, 0, 0.4, 0]])
    np.testing.assert_allclose(prior.expected, expected)
    assert [start.tolist() for start in prior.starts] == [[1, 2]]
    assert prior.first.tolist() == []


def test_a_prior_remembers_who_contributed_how_much():
    near = [remembered("one", 0.3, {"a": 0.8}), remembered("two", 0.6, {"a": 0.4, "b": 0.1})]
    prior = expect(near, ["a", "b"], TRANSFERS["paper"])
    shares = [(part.problem, part.share) for part in prior.contributions(0)]
    w = np.array([1 / (0.001 + 0.09), 1 / (0.001 + 0.36)])
    w /= w.sum()
    assert [name for name, _ in shares] == ["one", "two"]
    np.testing.assert_allclose([share for _, share in shares], [w[0] * 0.8, w[1] * 0.4])
    assert sum(share for _, share in shares) == pytest.approx(prior.expected[0])


def reference_guidance(distances, worths, n_selected, n_problems):
    """The mean of what neighbours say, a silent one at distance 1 among them, and the history."""
    expected = []
    for s in range(len(n_selected)):
        above = sum(w[s] / (0.001 + d**2) for d, w in zip(distances, worths, strict=True))
        below = sum(1 / (0.001 + d**2) for d in [*distances, 1.0])
        expected.append((above / below + n_selected[s] / (n_problems[s] + 1)) / 2)
    return expected


def history_of(n_selected, n_problems):
    return FeatureHistory(9, np.array(n_problems), np.array(n_selected))


NEAR = [
    remembered("one", 0.3, {"a": 0.8, "b": 0.0, "c": 0.0}, q=[8.0, 4.0, 0.0]),
    remembered("two", 0.5, {"a": 0.0, "b": 0.6, "c": 0.0}, q=[1.0, 10.0, 5.0]),
]


def test_guided_joins_what_neighbours_say_with_the_record_over_all_problems():
    names = ["c", "a", "b", "new"]
    prior = expect(NEAR, names, TRANSFERS["guided"], history=history_of([1, 0, 4, 2], [5, 0, 4, 3]))
    worths = [
        [0.0, 0.8 + 0.2, 0.2 * 4 / 8, 0.0],
        [0.2 * 5 / 10, 0.2 * 1 / 10, 0.8 + 0.2, 0.0],
    ]
    expected = reference_guidance([0.3, 0.5], worths, [1, 0, 4, 2], [5, 0, 4, 3])
    np.testing.assert_allclose(prior.expected, expected)
    assert prior.guides and not prior.doubtful
    assert prior.first.tolist() == prior.transferred.tolist() == [2, 1, 3, 0]
    assert [start.tolist() for start in prior.starts] == [[1], [2]]


def test_a_far_problem_promises_little_and_is_a_reason_for_doubt():
    near, far = (
        expect([remembered("one", d, {"a": 1.0})], ["a", "b"], TRANSFERS["guided"])
        for d in (0.2, 0.97)
    )
    assert near.expected[0] > 0.9 and not near.doubtful
    assert 0.45 < far.expected[0] < 0.55 and far.doubtful


def test_what_is_judged_holds_for_features_that_nobody_had():
    predicted, history = np.array([0.3, 0.3, 0.3]), history_of([0, 1, 0], [0, 1, 0])
    prior = expect(
        NEAR, ["a", "on record", "new"], TRANSFERS["guided"], predicted=predicted, history=history
    )
    assert prior.predicted.tolist() == [2] and prior.expected[2] == 0.3
    assert prior.expected[1] == 0.25


def test_ranked_asks_memory_for_nothing():
    prior = expect(
        NEAR,
        ["a", "b"],
        TRANSFERS["ranked"],
        predicted=np.ones(2),
        history=history_of([1, 1], [1, 1]),
    )
    assert prior.guides and not prior.doubtful
    assert prior.expected.tolist() == [0, 0] and prior.starts == () and prior.sources == ()


@given(UNIT, st.lists(UNIT, min_size=3, max_size=3), st.sampled_from(["paper", "guided"]))
def test_expectations_stay_within_0_and_1(distance, qualities, transfer):
    near = [remembered("one", distance, dict(zip("abc", qualities, strict=True)))]
    prior = expect(near, list("cab"), TRANSFERS[transfer])
    assert ((prior.expected >= 0) & (prior.expected <= 1)).all()


def test_without_neighbours_or_transfer_there_is_no_prior():
    assert expect([], ["a"], TRANSFERS["guided"]) is None
    assert expect([remembered("one", 0.1, {"a": 1.0})], ["a"], TRANSFERS["none"]) is None


def test_unknown_scores_count_as_nothing():
    near = [remembered("one", 0.1, {"a": 0.5, "b": 0.0}, q=[np.nan, np.nan])]
    assert np.isfinite(expect(near, ["a", "b"], TRANSFERS["guided"]).expected).all()


def test_what_is_judged_holds_for_features_that_no_neighbour_had():
    near = [remembered("one", 0.3, {"a": 0.8, "b": 0.0})]
    predicted = np.array([0.1, 0.2, 0.7, 0.4])
    names = ["b", "a", "new", "newer"]
    prior, without = (expect(near, names, predicted=each) for each in (predicted, None))
    np.testing.assert_array_equal(prior.expected, [*without.expected[:2], 0.7, 0.4])
    assert prior.predicted.tolist() == [2, 3]
    assert without.predicted.tolist() == []
    assert {2, 3} <= set(prior.transferred.tolist())
    published = expect(near, names, TRANSFERS["paper"], predicted=predicted)
    assert published.expected.tolist() == [0.0, 0.8, 0.0, 0.0] and not len(published.predicted)


def test_without_neighbours_a_judgement_is_a_prior():
    prior = expect([], ["a", "b"], TRANSFERS["guided"], predicted=np.array([0.2, 1.7]))
    assert prior.expected.tolist() == [0.2, 1.0]
    assert prior.sources == ()
    assert expect([], ["a", "b"], TRANSFERS["none"], predicted=np.array([0.2, 0.7])) is None
