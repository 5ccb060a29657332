import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix, issparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from metafs.errors import ProblemError, UsageError
from metafs.plugin.prior import Prior
from metafs.plugin.ranking import RankingSelector, ranking


class BySum(RankingSelector):
    """Scores a feature by the sum of its values."""

    def _score(self, X, y):
        assert isinstance(X, csr_array) or not issparse(X)
        return np.asarray(X.sum(axis=0))


X = np.array([[1.0, 2.0, 3.0, 2.0], [0.0, 0.0, 1.0, 0.0]])
Y = [0, 1]


@parametrize_with_checks([BySum()])
def test_scikit_learn_accepts_a_subclass(estimator, check):
    check(estimator)


def test_the_contract_after_fit():
    selector = BySum().fit(X, Y)
    assert selector.scores_.tolist() == [1.0, 2.0, 4.0, 2.0]
    assert selector.ranking_.tolist() == [4, 2, 1, 3]
    assert selector.get_support().tolist() == [False, True, True, False]
    assert selector.n_evaluations_ == 4 and selector.stopped_ == "ranked every feature"
    assert BySum().fit(csr_matrix(X), Y).ranking_.tolist() == [4, 2, 1, 3]


def test_a_prior_only_breaks_ties():
    prior = np.array([1.0, 0.1, 0.0, 0.2])
    for given in (prior, Prior(prior), prior.tolist()):
        assert BySum().fit(X, Y, prior=given).ranking_.tolist() == [4, 3, 1, 2]


@pytest.mark.parametrize(
    ("asked", "kept"), [(None, 2), (1, 1), (9, 4), (0.25, 1), (1.0, 4), (0.01, 1)]
)
def test_how_many_are_kept(asked, kept):
    assert BySum(n_features_to_select=asked).fit(X, Y).get_support().sum() == kept


@pytest.mark.parametrize("asked", [0, -1, 0.0, 1.5, np.nan, "most", [1]])
def test_an_impossible_number_is_a_sentence(asked):
    with pytest.raises(UsageError, match="n_features_to_select is"):
        BySum(n_features_to_select=asked).fit(X, Y)


def test_missing_values_are_refused_with_what_to_do():
    for table in (np.array([[1.0, np.nan], [2.0, 0.0]]), csr_array([[1.0, np.nan], [2.0, 0.0]])):
        with pytest.raises(ProblemError, match=r"BySum cannot take missing values \(NaN\): fill"):
            BySum().fit(table, [0, 1])


def test_the_largest_numbers_there_are_raise_no_warning():
    largest = np.finfo(np.float64).max
    assert BySum(1).fit([[largest, -largest], [0.0, 0.0]], [0, 1]).ranking_.tolist() == [1, 2]


def test_marked_features_come_first():
    ranks = ranking(np.array([3.0, 1.0, 2.0]), first=np.array([False, True, True]))
    assert ranks.tolist() == [3, 2, 1]
