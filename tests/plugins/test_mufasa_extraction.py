import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metafs.errors import ProblemError, UsageError
from metafs.plugin.registry import Registry
from metafs_metafeatures import AndOrGenerator, SVMAccuracy, norm_infogain, rand_search, search
from metafs_metafeatures.mufasa.extraction import MISSES, filled

from .extracting import Columns, separation, table


@given(st.lists(st.integers(1, 6), max_size=30), st.integers(1, 30))
def test_a_set_is_filled_until_nothing_fits(draws, budget):
    taken = filled(iter([*draws, *[99] * MISSES]), float, budget)
    assert len(set(taken)) == len(taken) and sum(taken) <= budget
    left = budget
    for value in dict.fromkeys(draws):
        if value in taken:
            left -= value
    assert all(value in taken or value > left for value in draws)


def test_a_feature_that_cannot_be_measured_is_named_and_the_rest_goes_on():
    images, y = table()
    generator = Columns(broken=(3, 9))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = search(generator, images, y, budget=8, quality=separation, step=0.4, random_state=0)
        ranked = norm_infogain(generator, images, y, budget=8, random_state=0)
    assert {f[0] for f in found.failed} <= {3, 9} and found.failed
    assert not {f[0] for f in (*found.features, *ranked.features)} & {3, 9}
    assert ranked.features and set(ranked.failed)
    assert any(
        str(warning.message).startswith(f"{next(iter(found.failed))!r} cannot be measured")
        and "sensor of column" in str(warning.message)
        for warning in caught
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nothing = Columns(broken=tuple(range(10)))
        for method in (search, rand_search, norm_infogain):
            with pytest.raises(ProblemError, match="could be measured"):
                method(nothing, images, y, budget=8, random_state=0)


@pytest.mark.parametrize("method", [search, rand_search, norm_infogain])
@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda column: np.where(np.arange(60) == 7, np.nan, column), "missing or infinite"),
        (lambda column: column[1:], r"shape \(59,\) for 60 instances"),
    ],
)
def test_values_that_are_none_are_named_and_left_out(method, spoil, why):
    class Spoilt(Columns):
        def measure(self, f, images):
            column = super().measure(f, images)
            return spoil(column) if f[0] == 9 else column

    images, y = table()
    with pytest.warns(UserWarning, match=why):
        found = method(Spoilt(), images, y, budget=20, random_state=0)
    assert found.features and found.failed
    assert {f[0] for f in found.failed} == {9}
    assert 9 not in {f[0] for f in found.features}


def test_a_budget_is_not_refused_for_a_cost_without_meta_feature():
    images = np.random.default_rng(0).random((40, 12, 12))
    y = (images[:, 5, 5] > 0.5).astype(int)
    generator = AndOrGenerator((12, 12), meta_feature_names=("x", "y"), fixed={"scatter": 2})
    found = search(generator, images, y, budget=1, n_steps=20, random_state=0)
    assert found.cost == 1


def test_a_budget_below_the_cheapest_feature_is_a_sentence():
    images, y = table()
    for method in (search, rand_search, norm_infogain):
        with pytest.raises(UsageError, match=r"budget of 0.5 is below .* costs 1: give"):
            method(Columns(), images, y, budget=0.5)
        with pytest.raises(UsageError, match="budget must be more than 0"):
            method(Columns(), images, y, budget=0)


def test_points_too_dear_for_the_budget_are_left_again():
    """Of the 64 shifts of an 8 x 8 square none is affordable for 3; the walk goes on from there."""
    images = np.random.default_rng(0).random((40, 12, 12))
    y = (images[:, 5, 5] > 0.5).astype(int)
    found = search(
        AndOrGenerator((12, 12)),
        images,
        y,
        budget=3,
        start=(4, 50, 8, 2),
        n_steps=60,
        step=0.3,
        random_state=0,
    )
    assert found.history[0].quality == -np.inf and found.history[0].n_features == 0
    assert found.features and found.cost <= 3


def test_any_set_measure_serves_as_quality():
    images, y = table()
    margin = Registry().measures["margin"]
    found = search(Columns(), images, y, budget=6, n_steps=5, quality=margin, random_state=0)
    X = np.column_stack([Columns().measure(f, images) for f in found.features])
    assert np.isclose(found.quality, margin.of_set(X, y, np.arange(X.shape[1])))
    with pytest.raises(UsageError, match="quality is 7"):
        search(Columns(), images, y, budget=6, quality=7)


@pytest.mark.parametrize("method", [search, rand_search])
def test_the_quality_of_a_set_is_by_default_the_accuracy_on_values_as_they_are(method):
    images, y = table()
    images[:, ::2] *= 30.0

    def qualities(quality):
        found = method(Columns(), images, y, budget=20, n_steps=9, quality=quality, random_state=0)
        return [step.quality for step in found.history]

    as_they_are, standardised = (SVMAccuracy(standardise=each).of_table for each in (False, True))
    assert qualities(None) == qualities(as_they_are) != qualities(standardised)
