"""mi-confidence with an interval for c(S), and with chance subtracted, against slow definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.metrics import mutual_info_score
from sklearn.metrics.cluster import contingency_matrix, expected_mutual_information

from metafs import Registry
from metafs.errors import UsageError
from metafs.stats.information_interval import IntervalConfidence
from metafs_climb.climb import Climb
from metafs_climb.mi_confidence import MIConfidence


def slow(X, y, features, *, b=5.0, r=1.0, confidence="size", adjusted=False, sigmas=0.0):
    """q(S) of 0/1 columns, row by row."""
    if not len(features):
        return 0.0
    _, groups = np.unique(X[:, sorted(features)], axis=0, return_inverse=True)
    table = contingency_matrix(groups, y).astype(np.int64)
    found = mutual_info_score(groups, y)
    if adjusted:
        found -= expected_mutual_information(table, len(y))
        freedom = (table.shape[0] - 1) * (table.shape[1] - 1)
        found -= sigmas * (2 * freedom) ** 0.5 / (2 * len(y))  # of a chi-squared distribution
    found = max(0.0, found) / np.log(2)
    c = len(y) / (len(y) + b * len(features))
    if confidence == "interval":
        c = IntervalConfidence().of(table)
    return found ** (2 - r) * c**r


FORMS = [
    {"confidence": "interval"},
    {"adjusted": True},
    {"confidence": "interval", "adjusted": True, "r": 0.5},
    {"adjusted": True, "b": 50.0, "r": 1.5},
    {"adjusted": True, "sigmas": 1.5},
]


def table(seed, n=40, n_features=6):
    rng = np.random.default_rng(seed)
    X = (rng.random((n, n_features)) < rng.uniform(0.1, 0.7, n_features)).astype(float)
    return X, (X[:, 0] != X[:, 1]) ^ (rng.random(n) < 0.2)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 99), st.sampled_from(FORMS), st.sets(st.integers(0, 5)))
def test_the_forms_are_their_definitions(seed, form, base):
    X, y = table(seed)
    evaluator = MIConfidence(**form).bind(X, y)
    edits = np.array([[0, 3], [1, 2], [4, 5]])
    expected = [slow(X, y, base ^ set(edit), **form) for edit in edits.tolist()]
    np.testing.assert_allclose(evaluator.of_sets(sorted(base), edits), expected, atol=1e-9)
    np.testing.assert_allclose(
        evaluator.of_each(), [slow(X, y, {j}, **form) for j in range(6)], atol=1e-9
    )


def test_sparse_tables_and_permuted_columns_are_the_same():
    X, y = table(3)
    order = np.random.default_rng(0).permutation(6)
    for name in ("mi-interval", "mi-adjusted"):
        measure = Registry().measures[name]
        np.testing.assert_allclose(measure(csr_array(X), y), measure(X, y))
        np.testing.assert_allclose(measure(X[:, order], y), measure(X, y)[order])


def noisy(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 23))
    return X, (X[:, :3].sum(axis=1) > 0) ^ (rng.random(n) < 0.1)


def test_without_what_chance_gives_noise_is_left_out():
    published, adjusted = 0, 0
    for seed in range(3):
        X, y = noisy(1000, seed)
        plain = Climb(random_state=seed).fit(X, y).get_support()
        better = Climb(MIConfidence(adjusted=True), random_state=seed).fit(X, y).get_support()
        published, adjusted = published + plain[3:].sum(), adjusted + better[3:].sum()
        assert better[:3].all()
    assert adjusted == 0
    assert published >= 9


def test_of_a_target_without_rhyme_less_is_kept():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1000, 23)), rng.random(1000) < 0.5
    kept = [
        Climb(measure, random_state=0).fit(X, y).get_support().sum()
        for measure in (None, MIConfidence(confidence="interval"), MIConfidence(adjusted=True))
    ]
    assert max(kept[1:]) < kept[0]
    sure = Climb(MIConfidence(adjusted=True, sigmas=4.0), random_state=0).fit(X, y)
    assert "no set was better than the empty one" in sure.stopped_


@pytest.mark.parametrize(
    "wrong", [{"confidence": "sure"}, {"width": 1.5}, {"more": 0.0}, {"sigmas": -1.0}]
)
def test_wrong_forms_are_a_sentence(wrong):
    with pytest.raises(UsageError):
        MIConfidence(**wrong)
