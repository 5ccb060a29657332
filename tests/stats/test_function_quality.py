"""Quality over functions against its definitions, one function and one row at a time."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from metafs.errors import UsageError
from metafs.stats.function_quality import (
    Dependence,
    Function,
    FunctionQuality,
)


def logistic(w, b=0.0, columns=None, fitness=1.0):
    """The function of a logistic regression with these weights."""

    def output(table):
        p = 1 / (1 + np.exp(-(table @ np.asarray(w) + b)))
        return np.column_stack([1 - p, p])

    columns = np.arange(len(w)) if columns is None else np.array(columns)
    return Function(columns, fitness, len(w), output)


def program(rule, columns, fitness=1.0, size=1):
    """A function of bits that only decides."""
    return Function(
        np.array(columns),
        fitness,
        size,
        lambda table: np.array([bool(rule(*map(bool, row))) for row in table]),
    )


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-2, 2), min_size=1, max_size=4), st.floats(-1, 1), st.integers(0, 9))
def test_fisher_information_of_a_logistic_regression(w, b, seed):
    """It is w² p (1 - p) in closed form."""
    X = np.random.default_rng(seed).normal(size=(30, len(w)))
    p = 1 / (1 + np.exp(-(X @ np.array(w) + b)))
    expected = np.square(w) * X.var(axis=0) * (p * (1 - p)).mean()
    if expected.max() > 1e-6:
        np.testing.assert_allclose(
            Dependence(logistic(w, b), X).on_each, expected, rtol=1e-4, atol=1e-9
        )


BITS = np.array(list(product([0.0, 1.0], repeat=3)))
RULES = [
    lambda a, b, c: a and (b or not c),
    lambda a, b, c: a != b,
    lambda a, b, c: True,
    lambda a, b, c: (a and b) or (b and c) or (a and c),
]


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(RULES), st.lists(st.integers(0, 7), min_size=2, max_size=20))
def test_of_a_program_it_is_the_probability_that_a_change_changes_the_output(rule, which):
    rows = BITS[which]
    bits = [tuple(map(bool, row)) for row in rows]
    expected = []
    for j in range(3):
        pairs = list(product(bits, bits))
        changed = [rule(*(y[i] if i == j else x[i] for i in range(3))) for x, y in pairs]
        expected.append(np.mean([rule(*x) != c for (x, _), c in zip(pairs, changed, strict=True)]))
    found = Dependence(program(rule, [0, 1, 2]), rows).on_each
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_a_set_changes_together():
    """Of a parity every feature alone is half of what all make together, and the pair as well."""
    parity = program(lambda a, b, c: (a != b) != c, [0, 1, 2])
    assert Dependence(parity, BITS).on_set([0]) == 1.0
    assert Dependence(parity, BITS).on_set([0, 1]) == 1.0
    both = program(lambda a, b, c: a or b, [0, 1, 2])
    changed = np.mean([(a or b) != (u or v) for a, b, u, v in product([0, 1], repeat=4)])
    alone = np.mean([(a or b) != (u or b) for a, b, u in product([0, 1], repeat=3)])
    assert Dependence(both, BITS).on_set([0, 1]) == 1.0
    assert Dependence(both, BITS).on_set([0, 2]) == pytest.approx(alone / changed)
    assert Dependence(both, BITS).on_set([2]) == 0.0


def test_what_was_asked_before_is_not_computed_again():
    asked = []

    def output(table):
        asked.append(len(table))
        return (table[:, 0] != table[:, 1]) & (table[:, 2] > 0)

    dependence = Dependence(Function(np.arange(3), 1.0, 3, output), BITS)
    found = [dependence.on_set(each) for each in ([0], [0, 1], [1, 2])]
    n_outputs = len(asked)
    assert [dependence.on_set(each) for each in ([0], [1, 0], [2, 1])] == found
    assert dependence.on_set([7]) == 0.0
    assert len(asked) == n_outputs


def test_functions_are_weighed_by_simplicity_and_by_fitness():
    functions = [logistic([1.0], fitness=0.5), logistic([1.0, 1.0], fitness=1.0)]
    prior = np.exp([-0.3, -0.6])
    prior /= prior.sum()
    found = FunctionQuality(p=2.0, simplicity=0.3).weights(functions)
    np.testing.assert_allclose(found, prior * [0.25, 1.0])


def test_q_is_the_weighed_sum():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    functions = [logistic([1.0, -2.0], columns=[3, 1], fitness=0.4), logistic([0.5], columns=[1])]
    quality = FunctionQuality(p=1.5, simplicity=0.2)
    weights = quality.weights(functions)
    v = X.var(axis=0)
    q_3 = min(1.0, v[3] / (4 * v[1]))
    expected = [0, weights[0] + weights[1], 0, weights[0] * q_3]
    np.testing.assert_allclose(quality.of_each(functions, X), expected, rtol=1e-3)
    np.testing.assert_allclose(quality.of_each(functions, csr_array(X)), expected, rtol=1e-3)


def test_with_a_large_p_only_the_best_function_counts():
    X = np.random.default_rng(1).normal(size=(20, 2))
    functions = [logistic([1.0], columns=[0], fitness=0.9), logistic([1.0], columns=[1])]
    found = FunctionQuality(p=500.0, simplicity=0.0).of_each(functions, X)
    np.testing.assert_allclose(found, [0.0, 0.5], atol=1e-6)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 99), st.floats(0, 5), st.floats(0, 1))
def test_it_lies_between_0_and_1_and_rows_have_no_order(seed, p, simplicity):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400, 5))
    functions = [
        logistic(rng.normal(size=2), columns=rng.permutation(5)[:2], fitness=rng.random())
        for _ in range(4)
    ]
    functions.append(Function(np.array([4]), 0.5, 1, lambda table: table[:, 0] > 0))
    quality = FunctionQuality(p, simplicity)
    found = quality.of_each(functions, X)
    assert (found >= 0).all()
    assert (found <= 1 + 1e-12).all()
    again = quality.of_each(functions, X[rng.permutation(400)])
    np.testing.assert_allclose(again, found, atol=1e-9)
    assert 0 <= quality.of_set(functions, X, [0, 4]) <= 1


def test_numbers_and_nothing():
    X = np.random.default_rng(2).normal(size=(30, 2))
    sloped = Function(np.array([0, 1]), 1.0, 2, lambda table: table @ np.array([3.0, 1.0]))
    found = FunctionQuality().of_each([sloped], X)
    assert found[0] == 1.0
    assert found[1] == pytest.approx((X[:, 1].var() / (9 * X[:, 0].var())), rel=0.35)
    assert FunctionQuality().of_each([], X).tolist() == [0.0, 0.0]
    assert FunctionQuality().of_set([sloped], X, []) == 0.0


@pytest.mark.parametrize("wrong", [{"p": -1.0}, {"simplicity": -0.1}, {"p": np.nan}])
def test_wrong_parameters_are_a_sentence(wrong):
    with pytest.raises(UsageError):
        FunctionQuality(**wrong)
