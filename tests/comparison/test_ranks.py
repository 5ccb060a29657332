"""Ranks, tests and critical differences, against the figures that Demsar (2006) publishes."""

import re
from itertools import combinations
from math import sqrt
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from metafs.comparison.picture import picture
from metafs.comparison.ranks import critical_difference, groups_within, rank_test, ranks_of

# Table 5 (a) of the paper: critical values of the two-tailed Nemenyi test, for k = 2 to 10.
CRITICAL = {
    0.95: (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164),
    0.90: (1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920),
}
# Table 6: AUC of C4.5, with m, with cf, and with both, on 14 data sets.
AUC = np.array(
    [
        (0.763, 0.768, 0.771, 0.798),
        (0.599, 0.591, 0.590, 0.569),
        (0.954, 0.971, 0.968, 0.967),
        (0.628, 0.661, 0.654, 0.657),
        (0.882, 0.888, 0.886, 0.898),
        (0.936, 0.931, 0.916, 0.931),
        (0.661, 0.668, 0.609, 0.685),
        (0.583, 0.583, 0.563, 0.625),
        (0.775, 0.838, 0.866, 0.875),
        (1.000, 1.000, 1.000, 1.000),
        (0.940, 0.962, 0.965, 0.962),
        (0.619, 0.666, 0.614, 0.669),
        (0.972, 0.981, 0.9752, 0.975),  # ranked 2 and 3 in the paper, which rounds afterwards
        (0.957, 0.978, 0.946, 0.970),
    ]
)


@pytest.mark.parametrize("level", CRITICAL)
@pytest.mark.parametrize("k", range(2, 11))
def test_critical_values_are_those_of_the_paper(level, k):
    n_problems = 14
    q = critical_difference(k, n_problems, level) / sqrt(k * (k + 1) / (6 * n_problems))
    assert q == pytest.approx(CRITICAL[level][k - 2], abs=0.0011)


def test_the_example_of_the_paper():
    found = rank_test(AUC)
    assert found.mean_ranks == pytest.approx((3.143, 2.000, 2.893, 1.964), abs=5e-4)
    assert round(found.critical_difference, 2) == 1.25
    assert round(critical_difference(4, 14, 0.90), 2) == 1.12
    assert found.test == "friedman"
    assert found.differ
    # The paper's 9.28 is not corrected for ties; SciPy's statistic is.
    ranks = ranks_of(AUC)
    ties = sum(n**3 - n for row in ranks for n in np.unique(row, return_counts=True)[1])
    factor = 1 - ties / (14 * (4**3 - 4))
    assert found.statistic * factor == pytest.approx(9.28, abs=0.01)
    # The paper: at 5 % the differences are too small, so that all four are one group.
    assert [set(group) for group in found.groups] == [{0, 1, 2, 3}]


def test_two_pipelines_are_tested_by_wilcoxon():
    better = np.column_stack([np.linspace(0.6, 0.9, 12), np.linspace(0.5, 0.7, 12)])
    found = rank_test(better)
    assert found.test == "wilcoxon"
    assert found.p_value == pytest.approx(2 / 2**12)
    assert found.mean_ranks == (1.0, 2.0)


@pytest.mark.parametrize("k", [2, 3])
def test_equal_scores_are_no_difference(k):
    found = rank_test(np.full((5, k), 0.75))
    assert (found.statistic, found.p_value, found.differ) == (0.0, 1.0, False)
    assert found.groups == (tuple(range(k)),)


def test_rounding_does_not_break_a_tie():
    assert ranks_of(np.array([[0.1 + 0.2, 0.3]])).tolist() == [[1.5, 1.5]]


@given(
    arrays(np.int64, st.tuples(st.integers(1, 6), st.integers(2, 5)), elements=st.integers(0, 4))
)
def test_ranks_are_counted(scores):
    """A rank is one more than the better scores, and half of the equal ones."""
    for row, ranks in zip(scores, ranks_of(scores.astype(float)), strict=True):
        for score, rank in zip(row, ranks, strict=True):
            assert rank == 1 + (row > score).sum() + ((row == score).sum() - 1) / 2


@given(st.lists(st.floats(1, 6), min_size=2, max_size=6), st.floats(0.01, 4))
def test_groups_are_the_largest_sets_without_a_difference(ranks, difference):
    def equal(places):
        return max(ranks[p] for p in places) - min(ranks[p] for p in places) < difference

    sets = [
        set(places)
        for size in range(2, len(ranks) + 1)
        for places in combinations(range(len(ranks)), size)
        if equal(places)
    ]
    largest = [each for each in sets if not any(each < other for other in sets)]
    found = [set(group) for group in groups_within(ranks, difference)]
    assert sorted(found, key=sorted) == sorted(largest, key=sorted)


def test_the_picture_shows_ranks_groups_and_difference():
    names = ["C4.5", "<m> & more", "cf", "a name that is too long for the place that it has"]
    found = rank_test(AUC)
    svg = picture(names, found)
    root = ElementTree.fromstring(svg)  # so it is well-formed, whatever names hold
    texts = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "<m> & more 2.00" in texts
    assert "critical difference 1.25" in texts
    assert any(text.endswith("…") or "…" in text for text in texts)
    lines = list(root.iter("{http://www.w3.org/2000/svg}line"))
    axis, bar = lines[0], next(each for each in lines if each.get("stroke-width") == "2")
    length = float(axis.get("x2")) - float(axis.get("x1"))
    reach = float(bar.get("x2")) - float(bar.get("x1"))
    assert reach / length == pytest.approx(found.critical_difference / 3, abs=0.01)
    assert len([each for each in lines if each.get("stroke-width") == "4"]) == len(found.groups)
    assert not re.search(r"nan|inf", svg.split("</title>")[1])
