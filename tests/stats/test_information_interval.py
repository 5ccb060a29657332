"""The interval confidence against simulated rows, and its moments against their definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

from metafs.errors import UsageError
from metafs.stats.information_interval import IntervalConfidence, information, moments_after


def bits(table):
    """Mutual information of each (..., r, s) table, as it is defined."""
    p = table / table.sum(axis=(-2, -1), keepdims=True)
    apart = p.sum(axis=-1, keepdims=True) * p.sum(axis=-2, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(p > 0, p * np.log2(p / apart), 0.0).sum(axis=(-2, -1))


def simulated(counts, k, alpha, n, rng):
    """Information after k more rows, drawn from the posterior, n times."""
    theta = rng.dirichlet((counts + alpha).ravel(), n)
    more = np.array([rng.multinomial(k, each) for each in theta])
    return bits(counts + more.reshape(n, *counts.shape))


def a_table(rng, r, s, n, concentration):
    p = rng.dirichlet(np.full(r * s, concentration))
    counts = rng.multinomial(n, p).reshape(r, s)
    return counts[counts.any(axis=1)][:, counts.any(axis=0)]


TABLES = [
    (r, s, n, concentration, more)
    for r, s in ((2, 2), (4, 3), (16, 2), (40, 2))
    for n in (100, 1000)
    for concentration in (0.5, 20.0)
    for more in (0.3, 1.0, 3.0)
    if n > 2 * r
]


def test_c_is_the_share_of_simulated_rows_within_the_interval():
    rng = np.random.default_rng(0)
    apart = []
    for r, s, n, concentration, more in TABLES:
        counts = a_table(rng, r, s, n, concentration)
        if min(counts.shape) < 2:
            continue
        found = simulated(counts, round(more * n), 0.5, 3000, rng)
        now = information(counts)
        share = np.mean((found >= 0.8 * now) & (found <= 1.2 * now))
        apart.append(abs(IntervalConfidence(0.2, more).of(counts) - share))
    assert len(apart) > 40
    assert np.mean(apart) < 0.015
    assert max(apart) < 0.08


def test_the_moments_are_those_of_simulated_rows():
    rng = np.random.default_rng(1)
    ratios = []
    for r, s, n, concentration, more in TABLES:
        counts = a_table(rng, r, s, n, concentration)
        if min(counts.shape) < 2:
            continue
        k = round(more * n)
        found = simulated(counts, k, 0.5, 3000, rng)
        mean, variance = moments_after(counts, k, 0.5)
        assert mean == pytest.approx(found.mean(), abs=4 * found.std() / 3000**0.5 + 1e-3)
        ratios.append(variance**0.5 / found.std())
    assert np.mean(np.abs(np.log(ratios))) < 0.06
    assert 0.9 < min(ratios) < max(ratios) < 1.5  # the largest where there is hardly information


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=4, max_size=4), st.integers(1, 3))
def test_the_mean_of_few_rows_is_exact(cells, k):
    """Every way in which k rows may fall, with its Dirichlet-multinomial chance (Polya's urn)."""
    counts = np.array(cells).reshape(2, 2) + np.eye(2, dtype=int)
    total = 0.0
    for way in np.ndindex(*[4] * k):
        urn, chance, after = (counts + 0.5).ravel(), 1.0, counts.ravel().copy()
        for cell in way:
            chance *= urn[cell] / urn.sum()
            urn[cell] += 1
            after[cell] += 1
        total += chance * bits(after.reshape(2, 2))
    assert moments_after(counts, k, 0.5)[0] == pytest.approx(total, abs=1e-9)


def test_information_is_scikit_learns():
    rng = np.random.default_rng(2)
    groups, y = rng.integers(0, 5, 90), rng.integers(0, 3, 90)
    table = np.zeros((5, 3), dtype=int)
    np.add.at(table, (groups, y), 1)
    assert information(table) == pytest.approx(mutual_info_score(groups, y) / np.log(2))


def test_more_rows_of_the_same_kind_make_it_surer():
    counts = np.array([[30, 12], [14, 31]])
    found = [IntervalConfidence().of(times * counts) for times in (1, 3, 10, 100, 300)]
    assert found == sorted(found)
    assert found[-1] > 0.999


def test_the_order_of_groups_and_classes_plays_no_part():
    rng = np.random.default_rng(3)
    counts = a_table(rng, 6, 3, 200, 1.0)
    there = IntervalConfidence().of(counts)
    assert IntervalConfidence().of(counts[::-1]) == pytest.approx(there, rel=1e-9)
    assert IntervalConfidence().of(counts[:, ::-1]) == pytest.approx(there, rel=1e-9)
    assert IntervalConfidence().of(counts.T) == pytest.approx(there, rel=1e-9)


def test_nothing_to_be_unsure_of():
    assert IntervalConfidence().of(np.array([[3, 4]])) == 1.0
    assert IntervalConfidence().of(np.array([[3], [4]])) == 1.0


@pytest.mark.parametrize("wrong", [{"width": 0.0}, {"width": 1.0}, {"more": -1.0}, {"alpha": 0.0}])
def test_wrong_parameters_are_a_sentence(wrong):
    with pytest.raises(UsageError):
        IntervalConfidence(**wrong)
