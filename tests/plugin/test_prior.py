"""Priors: what a selector is handed, and its sources."""

import numpy as np
import pytest

from metafs.errors import UsageError
from metafs.plugin.prior import Prior, Source, as_prior


def test_an_array_starts_at_the_threshold_and_its_best_are_tried_first():
    prior = as_prior([0.05, 0.1, 0.9], 3)
    assert [start.tolist() for start in prior.starts] == [[1, 2]]
    assert prior.guides
    assert prior.first.tolist() == prior.transferred.tolist() == [2, 1, 0]
    assert as_prior(np.zeros(3), 3).starts == ()


def test_a_prior_that_does_not_guide_proposes_where_to_start():
    prior = Prior(np.array([0.2, 0.0, 0.9]), starts=(np.array([0, 2]), np.array([1])))
    assert prior.first.tolist() == []
    assert prior.transferred.tolist() == [0, 2]


def test_no_prior_stays_none_and_a_prior_stays_itself():
    prior = Prior(np.array([0.2]))
    assert as_prior(None, 3) is None
    assert as_prior(prior, 1) is prior


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ([0.1], "shape"),
        (0.1, "shape"),
        ([[0.1, 0.2]], "shape"),
        ([0.1, 1.2], "between"),
        ([0.1, np.nan], "between"),
        (["much", "little"], "numbers"),
        ({"a": 0.1}, "numbers"),
    ],
)
def test_a_wrong_prior_is_refused_with_a_sentence(wrong, words):
    with pytest.raises(UsageError, match=words):
        as_prior(wrong, 2)


def test_a_prior_can_stand_for_its_array():
    prior = Prior(np.array([0.25, 0.5]))
    np.testing.assert_array_equal(np.asarray(prior, dtype=np.float32), [0.25, 0.5])
    assert len(prior) == 2


def test_contributions_add_up_to_the_expectation():
    near = Source("near", 0.1, 0.8, np.array([0.5, 0.0]))
    far = Source("far", 0.9, 0.2, np.array([1.0, 0.0]))
    prior = Prior(np.array([0.6, 0.0]), sources=(far, near))
    contributions = prior.contributions(0)
    assert [part.problem for part in contributions] == ["near", "far"]
    assert sum(part.share for part in contributions) == pytest.approx(prior.expected[0])
    assert prior.contributions(1) == []


def test_speakers_is_the_deprecated_name_of_relevance_sources():
    source = Source("near", 0.1, 1.0, np.array([0.5]))
    prior = Prior(np.zeros(1), relevance_sources=(source,))
    with pytest.warns(DeprecationWarning, match="use relevance_sources"):
        assert prior.speakers == (source,)


def test_judged_is_the_deprecated_name_of_predicted():
    prior = Prior(np.zeros(3), predicted=np.array([1, 2]))
    with pytest.warns(DeprecationWarning, match="use predicted"):
        assert prior.judged.tolist() == [1, 2]
