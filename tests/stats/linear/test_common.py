"""The prior mean that past models have in common, and what regularisation is usual."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from metafs.stats.linear import Directions, WeightPrior, fit_linear
from metafs.stats.linear.common import agreed_part, agrees, common_part, prior_mean
from metafs.stats.linear.logistic import logistic
from metafs.stats.linear.regularisation import regularisations, shares_of_regularisations
from metafs.stats.linear.spectrum import spectrum_of, spectrum_of_rows


def slow_agreed_part(weights):
    """Follow the equations, one pair of directions at a time."""
    unit = [w / np.sqrt(w @ w) for w in weights]
    pairs = [u @ v for i, u in enumerate(unit) for k, v in enumerate(unit) if i != k]
    if sum(pairs) <= 3 * np.sqrt(2 * sum(each**2 for each in pairs)):
        return None
    return common_part(np.array(unit)) * np.median([np.sqrt(w @ w) for w in weights])


def past_models(common, n=12, noise=0.5, seed=0):
    rng = np.random.default_rng(seed)
    return common + noise * rng.normal(size=(n, len(common)))


@given(st.integers(0, 30), st.floats(0.0, 3.0))
def test_the_common_part_is_that_of_the_equations(seed, noise):
    rng = np.random.default_rng(seed)
    weights = past_models(rng.normal(size=5), int(rng.integers(5, 20)), noise, seed)
    found, expected = agreed_part(weights), slow_agreed_part(weights)
    assert (found is None) == (expected is None)
    if found is not None:
        np.testing.assert_allclose(found, expected)


def test_random_signs_seldom_have_a_common_part_even_of_models_that_are_all_alike():
    rng = np.random.default_rng(0)
    weights = past_models(rng.normal(size=20))
    signs = rng.choice([-1.0, 1.0], size=(500, 12, 1))
    assert np.mean([agreed_part(each * weights) is not None for each in signs]) < 0.05
    assert agreed_part(weights) is not None


def test_directions_are_oriented_by_the_names_of_classes():
    common = np.array([2.0, -1.0, 0.5, 0.0])
    weights = past_models(common, noise=0.1)
    signs = np.where(np.arange(12) % 2, 1.0, -1.0)[:, None]
    outputs = ["good" if sign > 0 else "bad" for sign in signs]
    known = Directions.of(signs * weights, outputs=outputs)
    (mean,) = prior_mean(known, ("bad", "good")).weights
    np.testing.assert_allclose(mean, common, atol=0.3)
    assert prior_mean(known, ("0", "1")) is None
    assert prior_mean(known, None) is None


def test_two_classes_that_few_past_models_speak_for_have_no_prior_mean():
    weights = past_models(np.ones(4), noise=0.1)
    outputs = ["a"] * 5 + ["b", "c", "d", "e", "f", "g", "h"]
    assert prior_mean(Directions.of(weights, outputs=outputs), ("a", "z")) is None
    everything = Directions.of(weights, outputs=["a"] * 12)
    assert prior_mean(everything, ("a", "z")) is not None
    assert prior_mean(everything, ("a", "y", "z")) is None


def digits(n_problems, called, seed=0):
    """Return directions of problems over some of six digits, called by name or number."""
    rng = np.random.default_rng(seed)
    of_digit = rng.normal(size=(6, 40))
    rows, problems, outputs = [], [], []
    for problem in range(n_problems):
        chosen = np.sort(rng.permutation(6)[:3])
        rows += [of_digit[d] - of_digit[chosen].mean(axis=0) for d in chosen]
        problems += [f"past {problem}"] * 3
        outputs += [called(d, place) for place, d in enumerate(chosen)]
    noise = 0.3 * rng.normal(size=(len(rows), 40))
    return of_digit, Directions.of(np.array(rows) + noise, problems=problems, outputs=outputs)


def test_more_classes_have_a_prior_mean_if_their_names_mean_something():
    of_digit, known = digits(20, lambda digit, place: f"digit {digit}")
    found = prior_mean(known, ("digit 1", "digit 4", "digit 5"))
    likeness = np.corrcoef(found.weights, of_digit[[1, 4, 5]])[:3, 3:]
    assert likeness.argmax(axis=1).tolist() == [0, 1, 2] and np.diag(likeness).min() > 0.8
    assert prior_mean(known, ("digit 1", "digit 4", "other")) is None


def test_classes_that_are_merely_numbered_have_none():
    _, known = digits(20, lambda digit, place: str(place))
    assert prior_mean(known, ("0", "1", "2")) is None


def test_labels_of_more_classes_must_be_predicted_rightly():
    expected, targets = np.eye(3)[[0, 1, 2, 0]], np.eye(3)[[0, 1, 2, 1]]
    assert agrees(expected, targets)
    assert not agrees(expected[:, [1, 2, 0]], targets)


def test_few_labels_do_not_outweigh_many_past_problems():
    expected, targets = np.array([[1.0], [-1.0]] * 8), np.array([[-1.0], [1.0]] * 8)
    assert not agrees(expected[:4], targets[:4]) and agrees(expected[:4], targets[:4], odds=20)
    assert not agrees(expected, targets, odds=20)


@pytest.mark.parametrize("codes", [False, True])
def test_past_models_of_one_question_help_where_classes_have_the_same_names(codes):
    rng = np.random.default_rng(1)
    common = rng.normal(size=30)
    past = past_models(common, noise=0.3)
    X, X_test = rng.normal(size=(8, 30)), rng.normal(size=(500, 30))
    names = ("no", "yes")

    def y_of(rows):
        return (
            (rows @ common > 0).astype(int) if codes else np.where(rows @ common > 0, *names[::-1])
        )

    def accuracy(output):
        prior = WeightPrior(
            Directions.of(past, outputs=[output] * 12), classes=names if codes else None
        )
        model = fit_linear(X, y_of(X), classes=True, prior=prior, strength=0.1)
        return np.mean(model.predict(X_test) == y_of(X_test))

    assert accuracy("yes") > 0.85
    assert accuracy("yes") > accuracy("maybe") + 0.1


def test_names_that_mean_the_opposite_cost_little_where_labels_say_so():
    rng = np.random.default_rng(2)
    common = rng.normal(size=10)
    X, X_test = rng.normal(size=(12, 10)), rng.normal(size=(500, 10))
    y, y_test = X @ common < 0, X_test @ common < 0
    prior = WeightPrior(Directions.of(past_models(common), outputs=["True"] * 12))
    right = [
        np.mean(fit_linear(X, y, classes=True, prior=each).predict(X_test) == y_test)
        for each in (prior, None)
    ]
    assert right[0] > right[1] - 0.03


def test_logistic_regression_around_an_offset_minimises_what_it_says():
    rng = np.random.default_rng(3)
    Z, offset = rng.normal(size=(20, 4)), rng.normal(size=20)
    target = np.where(rng.random(20) < 0.5, 1.0, -1.0)
    alpha, fitted = logistic(spectrum_of(Z @ Z.T), target[:, None], 0.8, offset=offset[:, None])

    def objective(u):
        f = Z @ u[:-1] + u[-1] + offset
        return np.logaddexp(0, -target * f).sum() + 0.8 / 8 * u[:-1] @ u[:-1]

    slow = minimize(objective, np.zeros(5), tol=1e-12)
    np.testing.assert_allclose(fitted[:, 0], Z @ slow.x[:-1] + slow.x[-1] + offset, atol=1e-3)
    np.testing.assert_allclose(Z.T @ alpha[:, 0], slow.x[:-1], atol=1e-3)


def test_few_labels_hardly_move_the_regularisation_and_many_decide_it():
    rng = np.random.default_rng(4)
    place = 1
    shares, at = [], []
    for n_rows in (4, 2000):
        rows = rng.normal(size=(n_rows, 3)) / np.sqrt(3)
        spectrum = spectrum_of_rows(rows)
        lambdas = regularisations(spectrum)
        loss = np.full(len(lambdas), 0.7)
        loss[place] = 0.6
        shares.append(shares_of_regularisations(lambdas, loss, spectrum, classes=True))
        at.append(np.exp(shares[-1] @ np.log(lambdas)))
    assert 0.3 < at[0] < 10
    assert shares[1][place] > 0.99


@pytest.mark.parametrize("classes", [True, False])
@pytest.mark.filterwarnings("error")
def test_rows_that_do_not_differ_teach_only_their_mean(classes):
    X, y = np.tile(np.arange(3.0), (6, 1)), np.arange(6) % 2
    past = WeightPrior(Directions.of(np.ones((3, 3))))
    for prior in (None, past):
        model = fit_linear(X, y if classes else 5.0 + y, classes=classes, prior=prior)
        if not classes:
            np.testing.assert_allclose(model.predict(X), 5.5)
        assert np.isfinite(model.decision_function(X + 1.0)).all()
