"""Laws of selectors."""

import pickle
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

from metafs.pipeline.fitting.selection import Selection, configured, select, takes_prior
from metafs.plugin.prior import Prior
from metafs.testing.data import NAMES, planted_classes


def _select(selector: Any, X: Any, y: Any, **fit: Any) -> Selection:
    return select(configured(selector, {"random_state": 0}), X, y, **fit)


def _assert_same(one: Selection, other: Selection) -> None:
    np.testing.assert_array_equal(one.selected, other.selected)
    np.testing.assert_allclose(one.scores, other.scores, rtol=1e-6, atol=1e-9)


WEIGHTED = "folds, bins and trees are made of rows, so that a weight of 2 is not two equal rows"


def check_scikit_learn_accepts(selector: Any) -> None:
    """It passes scikit-learn's own estimator checks; weights need not equal repeated rows."""
    exempt = dict.fromkeys(
        (
            "check_sample_weight_equivalence_on_dense_data",
            "check_sample_weight_equivalence_on_sparse_data",
        ),
        WEIGHTED,
    )
    check_estimator(clone(selector), on_skip=None, expected_failed_checks=exempt)


def check_something_is_selected(selector: Any) -> None:
    """It selects at least one feature, and scores and ranks every one."""
    found = _select(selector, *planted_classes())
    assert found.selected.shape == found.scores.shape == found.ranking.shape == (len(NAMES),)
    assert found.selected.any()
    assert not np.isnan(found.scores).any()
    assert found.ranking.min() == 1


def check_same_seed_same_answer(selector: Any) -> None:
    """The same seed gives the same answer."""
    X, y = planted_classes()
    _assert_same(_select(selector, X, y), _select(selector, X, y))


def check_any_number_of_jobs_same_answer(selector: Any) -> None:
    """The number of jobs changes nothing, where there is such a parameter."""
    X, y = planted_classes()
    two = configured(selector, {"n_jobs": 2})
    _assert_same(_select(selector, X, y), _select(two, X, y))


def check_sparse_equals_dense(selector: Any) -> None:
    """A CSR matrix gives what the same dense matrix gives, if sparse input is accepted."""
    X, y = planted_classes()
    if get_tags(selector).input_tags.sparse:
        _assert_same(_select(selector, X, y), _select(selector, csr_array(X), y))


def check_input_is_left_alone(selector: Any) -> None:
    """Neither the data nor the unfitted selector is changed by a fit."""
    X, y = planted_classes()
    X_before, y_before = X.copy(), y.copy()
    before = clone(selector).get_params(deep=False)
    fitted = clone(selector).fit(X, y)
    np.testing.assert_array_equal(X, X_before)
    np.testing.assert_array_equal(y, y_before)
    assert repr(fitted.get_params(deep=False)) == repr(before)


def check_names_come_out(selector: Any) -> None:
    """The names of the selected columns can be asked for."""
    X, y = planted_classes()
    fitted = configured(selector, {"random_state": 0}).fit(X, y)
    names = fitted.get_feature_names_out(np.array(NAMES, dtype=object))
    assert list(names) == [name for name, on in zip(NAMES, fitted.get_support(), strict=True) if on]


def check_pickles(selector: Any) -> None:
    """A fitted selector survives pickling."""
    X, y = planted_classes()
    fitted = configured(selector, {"random_state": 0}).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.get_support(), fitted.get_support())


def check_no_prior_is_the_method_itself(selector: Any) -> None:
    """``prior=None`` is the method without any prior."""
    if takes_prior(selector):
        X, y = planted_classes()
        seeded = configured(selector, {"random_state": 0})
        with_none = clone(seeded).fit(X, y, prior=None)
        np.testing.assert_array_equal(
            with_none.get_support(), clone(seeded).fit(X, y).get_support()
        )


def check_any_prior_is_accepted(selector: Any) -> None:
    """An array and a `Prior`, right or wrong, both lead to a selection."""
    if takes_prior(selector):
        X, y = planted_classes()
        right = np.zeros(len(NAMES))
        right[:2] = 0.9
        for expected in (right, right[::-1].copy(), np.zeros(len(NAMES)), np.ones(len(NAMES))):
            for prior in (expected, Prior(expected, starts=(np.flatnonzero(expected > 0.5),))):
                assert _select(selector, X, y, prior=prior).selected.any()


CHECKS = (
    check_scikit_learn_accepts,
    check_something_is_selected,
    check_same_seed_same_answer,
    check_any_number_of_jobs_same_answer,
    check_sparse_equals_dense,
    check_input_is_left_alone,
    check_names_come_out,
    check_pickles,
    check_no_prior_is_the_method_itself,
    check_any_prior_is_accepted,
)
