"""What past problems and folds say of candidates, against the equations written out."""

import numpy as np
import pytest

from metafs.pipeline.choice.candidates import ALL, Candidate
from metafs.pipeline.choice.expectation import (
    DISCOUNT,
    FOLDS_ASSUMED,
    KAPPA,
    Expectation,
    Past,
    Thresholds,
    expected,
    likeness,
    updated,
)

DEFAULT = Candidate("remembered")
FOREST, SMALL = Candidate("forest"), Candidate("remembered", "projected", 4)
CANDIDATES = [DEFAULT, FOREST, SMALL]


def test_without_experience_everything_is_a_little_worse_than_the_default():
    found = expected(CANDIDATES, [])
    np.testing.assert_allclose(found.mean, [0.0, -DISCOUNT, -DISCOUNT])
    assert found.deviation[0] == 0.0
    assert (found.deviation[1:] > 0).all()


def test_mean_and_covariance_are_those_of_past_problems():
    past = [
        Past({DEFAULT: 0.5, FOREST: 0.7, SMALL: 0.4}, weight=2.0),
        Past({DEFAULT: 0.6, FOREST: 0.6, SMALL: 0.6}, weight=1.0),
    ]
    blank, found = expected(CANDIDATES, []), expected(CANDIDATES, past)
    apart = np.array([[0.0, 0.2, -0.1], [0.0, 0.0, 0.0]])
    mean = (KAPPA * blank.mean + 2 * apart[0] + apart[1]) / (KAPPA + 3)
    np.testing.assert_allclose(found.mean, mean, atol=0.003)  # a past result has a little noise
    spread = KAPPA * blank.covariance
    for weight, row in zip((2.0, 1.0), apart, strict=True):
        spread = spread + weight * np.outer(row - mean, row - mean)
    np.testing.assert_allclose(found.covariance, spread / (KAPPA + 3), atol=0.002)


def test_what_a_past_problem_did_not_try_is_filled_in_from_what_it_did():
    alike = Candidate("forest", "importance", 16)
    past = [Past({DEFAULT: 0.5, FOREST: 0.8})] * 5
    found = expected([DEFAULT, FOREST, alike], past)
    assert 0.0 < found.mean[2] < found.mean[1]


def test_folds_are_weighed_by_their_noise():
    before = expected(CANDIDATES, [])
    scores = {DEFAULT: {0: 0.5, 1: 0.6}, FOREST: {0: 0.7, 1: 0.7}}
    found = updated(before, scores, n_test=10, n_train=40)
    apart = np.array([0.2, 0.1])
    lacking = [((1 - mean) * 20 + 2) / 22 for mean in (0.55, 0.7)]
    assumed = sum(lacking) / 20
    squares = ((apart - 0.15) ** 2).sum() + FOLDS_ASSUMED * assumed
    noise = squares / (1 + FOLDS_ASSUMED) * (1 / 2 + 10 / 40)
    prior = before.covariance[1, 1]
    mean = (0.15 / noise - DISCOUNT / prior) / (1 / noise + 1 / prior)
    np.testing.assert_allclose(found.mean[1], mean)
    np.testing.assert_allclose(found.covariance[1, 1], 1 / (1 / noise + 1 / prior))
    assert found.mean[0] == 0.0


def test_good_candidates_are_compared_exactly_however_noisy_a_bad_default_is():
    before = expected(CANDIDATES, [])
    folds = np.random.default_rng(0).normal(size=5)
    scores = {
        DEFAULT: dict(enumerate(0.3 * folds)),  # no better than guessing
        FOREST: dict.fromkeys(range(5), 0.95),
        SMALL: dict.fromkeys(range(5), 0.94),
    }
    found = updated(before, scores, n_test=20, n_train=80)
    assert found.deviation[1:].min() > 2 * np.sqrt(found.variance_from(1)[2])


@pytest.mark.parametrize("n_rows", [20, 2000])
def test_memory_decides_while_rows_are_few_and_folds_when_they_are_many(n_rows):
    past = [Past({DEFAULT: 0.5, FOREST: 0.45, SMALL: 0.5})] * 20
    scores = {DEFAULT: dict.fromkeys(range(5), 0.5), FOREST: dict.fromkeys(range(5), 0.6)}
    rows = {"n_test": n_rows / 5, "n_train": n_rows * 4 / 5}
    found = updated(expected(CANDIDATES, past), scores, **rows)
    assert (found.mean[1] > 0) == (n_rows == 2000)


def test_observing_a_candidate_tells_of_those_like_it():
    covariance = np.array([[1.0, 0.9], [0.9, 1.0]])
    before = Expectation((FOREST, SMALL), np.zeros(2), covariance)
    after = before.given([0], np.array([1.0]), np.array([[1e-9]]))
    np.testing.assert_allclose(after.mean, [1.0, 0.9], atol=1e-6)
    np.testing.assert_allclose(after.covariance[1, 1], 1 - 0.81, atol=1e-6)


def test_the_default_is_left_for_an_advantage_that_exceeds_the_threshold():
    past = [Past({DEFAULT: 0.5, FOREST: 0.53, SMALL: 0.4})] * 2
    carefree, careful = (expected(CANDIDATES, past, Thresholds(d, 0.01)) for d in (0.0, 1.0))
    np.testing.assert_allclose(carefree.assured, carefree.mean)
    np.testing.assert_allclose(careful.assured, careful.mean - careful.deviation)
    assert CANDIDATES[carefree.best(CANDIDATES)] == FOREST
    assert CANDIDATES[careful.best(CANDIDATES)] == DEFAULT
    assert careful.given([1], np.array([0.1]), np.array([[1e-6]])).thresholds == Thresholds(
        1.0, 0.01
    )


def test_problems_with_other_numbers_of_rows_leave_more_uncertain():
    spread = [
        expected(CANDIDATES, [Past(dict.fromkeys(CANDIDATES, 0.5), more_rows=more)] * 9).deviation
        for more in (0.0, 1.0, -1.0, 3.0)
    ]
    assert (spread[0][1:] < spread[1][1:]).all()
    np.testing.assert_allclose(spread[1], spread[2])
    assert (spread[1][1:] < spread[3][1:]).all()
    assert all(each[0] == 0 for each in spread)


def test_likeness_is_a_covariance_as_computed_pair_by_pair():
    def alike(a, b):
        found = 1.0 if a.learner == b.learner else 0.5
        if (a.selector == ALL) != (b.selector == ALL):
            return found * 0.5
        found *= 1.0 if a.selector == b.selector else 0.8
        if a.size is not None and b.size is not None:
            found *= np.exp(-abs(np.log(a.size / b.size)) / 3)
        return found

    some = [
        *CANDIDATES,
        *(Candidate(one, how, size) for one in "ab" for how in "xy" for size in (1, 2, 8)),
        Candidate("a"),
    ]
    found = likeness(some)
    np.testing.assert_allclose(found, [[alike(a, b) for b in some] for a in some])
    assert np.linalg.eigvalsh(found).min() > -1e-9
