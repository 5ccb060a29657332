"""Every law of `metafs.testing`, held against everything in the registry.

scikit-learn's own checks of the selectors as they are offered are among these laws; the files of
`tests/plugins` have them for other parameters.
"""

import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.feature_selection import SelectKBest

from metafs.plugin.hookspecs import hookimpl
from metafs.plugin.registry import Registry
from metafs.testing import CHECKS, cases, cases_of, check_plugin


@pytest.mark.parametrize("case", cases(Registry()), ids=str)
def test_offer_keeps_its_contract(case):
    case()


class Offering:
    """A plugin made on the spot."""

    def __init__(self, kind, value):
        setattr(self, f"metafs_{kind}", hookimpl(lambda: {"mine": value}))


def broken_laws(kind, value):
    """Return the names of the laws that a plugin breaks."""
    broken = []
    for case in cases_of(Offering(kind, value)):
        try:
            case()
        except AssertionError:
            broken.append(case.check.__name__)
    return broken


def test_a_plain_scikit_learn_selector_may_be_offered_as_it_is():
    check_plugin(Offering("selectors", SelectKBest(k=2)))


def test_a_regressor_of_scikit_learn_keeps_the_contract():
    check_plugin(Offering("regressors", RandomForestRegressor(n_estimators=10, random_state=0)))


def test_an_unseeded_regressor_is_caught():
    broken = broken_laws("regressors", RandomForestRegressor(n_estimators=2, max_features=1))
    assert broken == ["check_same_answer_twice"]


def first_column_first(X, y):
    """A measure that looks at where a column stands."""
    return X.var(axis=0) - range(X.shape[1])


def test_a_measure_that_prefers_the_first_column_is_caught():
    broken = broken_laws("measures", first_column_first)
    assert "check_permuting_columns_permutes_scores" in broken


def test_a_learner_that_only_guesses_is_caught():
    from sklearn.dummy import DummyClassifier

    assert broken_laws("learners", DummyClassifier()) == ["check_it_learns"]


def test_every_kind_has_laws_and_every_law_says_what_it_is():
    for checks in CHECKS.values():
        assert checks
        assert all(check.__doc__ for check in checks)
