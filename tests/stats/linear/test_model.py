"""Linear models under what memory knows, on data where the right weights are known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from metafs.errors import UsageError
from metafs.stats.linear import (
    STRENGTHS,
    Directions,
    TransferExperience,
    WeightPrior,
    coherence,
    fit_linear,
    fitting,
    pool,
    prepare,
    project,
    reference_weights,
    scales_of,
    transfer_curve,
)
from metafs.stats.linear.calibration import shift_to_shares
from metafs.stats.linear.loss import class_loss
from metafs.stats.linear.strength import choose_strength

N_TOPICS, N_WORDS = 6, 240


def documents(topics, n_each, seed):
    """Return word counts of documents: each topic has 20 words of its own, beside common ones."""
    rng = np.random.default_rng(seed)
    rates = np.full((N_TOPICS, N_WORDS), 0.04)
    for topic in range(N_TOPICS):
        rates[topic, topic * 20 : (topic + 1) * 20] = 0.2
    y = np.repeat(topics, n_each)
    return csr_array((rng.random((len(y), N_WORDS)) < rates[y]).astype(float)), y


def memory_of_pairs(pairs, seed=0):
    weights = []
    for k, pair in enumerate(pairs):
        X, y = documents(pair, 80, [seed, k])
        weights.append(fit_linear(X, y, classes=True).coef[0])
    return WeightPrior(Directions.of(weights))


PAST = [(0, 2), (1, 3), (0, 4), (1, 5), (2, 5), (3, 4), (0, 3), (1, 2)]


def test_memory_of_other_pairs_of_the_same_topics_helps_with_few_labels():
    prior = memory_of_pairs(PAST)
    X_test, y_test = documents((0, 1), 200, 99)
    X_free, _ = documents((0, 1), 100, 98)
    gains = []
    for seed in range(6):
        X, y = documents((0, 1), 5, [seed, 5])
        own = fit_linear(X, y, classes=True, X_unlabelled=X_free)
        with_memory = fit_linear(X, y, classes=True, prior=prior, X_unlabelled=X_free)
        gains.append(
            np.mean(with_memory.predict(X_test) == y_test) - np.mean(own.predict(X_test) == y_test)
        )
    assert np.mean(gains) > 0.1


def test_a_memory_whose_columns_changed_their_names_costs_nothing():
    prior = memory_of_pairs(PAST)
    order = np.random.default_rng(0).permutation(N_WORDS)
    renamed = WeightPrior(Directions.of(prior.directions.weights[:, order]))
    X_free, _ = documents((0, 1), 100, 98)
    assert coherence(X_free, renamed) < 0.3 * coherence(X_free, prior)
    X, y = documents((0, 1), 20, 4)
    X_test, y_test = documents((0, 1), 200, 99)
    own = fit_linear(X, y, classes=True, X_unlabelled=X_free)
    with_memory = fit_linear(X, y, classes=True, prior=renamed, X_unlabelled=X_free)
    loss = np.mean(own.predict(X_test) == y_test) - np.mean(with_memory.predict(X_test) == y_test)
    assert loss < 0.02


def test_strength_zero_is_no_memory():
    prior = memory_of_pairs(PAST[:3])
    X, y = documents((0, 1), 10, 4)
    none, zero = (
        fit_linear(X, y, classes=True, prior=given, strength=s)
        for given, s in ((None, "auto"), (prior, 0.0))
    )
    np.testing.assert_allclose(zero.coef, none.coef)
    assert not zero.from_memory.any()


def test_memory_has_its_part_of_the_weights_in_the_span_of_its_directions():
    prior = memory_of_pairs(PAST[:3])
    X, y = documents((0, 1, 2), 10, 4)
    found = fit_linear(X, y, classes=True, prior=prior, strength=3.0)
    W = prior.directions.weights
    inside = found.from_memory @ np.linalg.pinv(W) @ W
    np.testing.assert_allclose(found.from_memory, inside, atol=1e-8)
    assert np.abs(found.from_memory).max() > 0
    assert found.coef.shape == (3, N_WORDS)
    np.testing.assert_allclose(found.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("classes", [True, False])
def test_sparse_and_dense_rows_give_the_same_model(classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 8)) * (rng.random((40, 8)) < 0.5)
    y = (X[:, 0] + X[:, 1] > 0).astype(int) if classes else X[:, 0] - X[:, 3]
    prior = WeightPrior(Directions.of(rng.normal(size=(3, 8))))
    dense, sparse = (
        fit_linear(table, y, classes=classes, prior=prior) for table in (X, csr_array(X))
    )
    np.testing.assert_allclose(
        dense.decision_function(X), sparse.decision_function(csr_array(X)), atol=1e-6
    )


@pytest.mark.parametrize("classes", [True, False])
def test_many_rows_are_fitted_like_few(monkeypatch, classes):
    X, y = documents((0, 1), 60, 4)
    y = y if classes else X @ np.arange(N_WORDS) / N_WORDS
    prior = memory_of_pairs(PAST[:3])
    small = fit_linear(X, y, classes=classes, prior=prior, strength=1.0)
    monkeypatch.setattr(fitting, "MOST_ROWS", 100)
    monkeypatch.setattr(fitting, "regularisations", lambda _: np.array([small.regularisation]))
    large = fit_linear(X, y, classes=classes, prior=prior, strength=1.0)
    np.testing.assert_allclose(
        large.decision_function(X), small.decision_function(X), atol=2e-2 * np.std(small.coef @ X.T)
    )


def test_one_class_is_refused():
    with pytest.raises(UsageError, match="one class only"):
        fit_linear(np.eye(3), np.array(["a", "a", "a"]), classes=True)


@settings(max_examples=25, deadline=None)
@given(scale=st.floats(1e-3, 1e3), seed=st.integers(0, 1000), n_outputs=st.sampled_from([1, 3]))
def test_the_loss_of_classes_does_not_change_with_the_scale(scale, seed, n_outputs):
    rng = np.random.default_rng(seed)
    decision, codes = rng.normal(size=(2, 9, n_outputs)), rng.integers(0, max(2, n_outputs), 9)
    losses, slopes = class_loss(decision, codes)
    scaled, other = class_loss(scale * decision, codes)
    np.testing.assert_allclose(scaled, losses, rtol=1e-6)
    np.testing.assert_allclose(other * scale, slopes, rtol=1e-6)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 1000), cut=st.integers(1, 11))
def test_scales_of_two_sets_of_rows_pool_to_those_of_all(seed, cut):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 3)) * (rng.random((12, 3)) < 0.6)
    both, all_rows = pool(scales_of(X[:cut]), scales_of(csr_array(X[cut:]))), scales_of(X)
    for name in ("n_rows", "document_frequency", "mean", "spread"):
        np.testing.assert_allclose(getattr(both, name), getattr(all_rows, name), atol=1e-9)


def test_unknown_scales_are_not_pooled():
    here = scales_of(np.array([[1.0, 2.0], [3.0, 4.0]]))
    unknown = type(here)(*(np.full(2, np.nan) for _ in range(4)))
    both = pool(here, unknown)
    np.testing.assert_array_equal(both.mean, here.mean)
    np.testing.assert_array_equal(both.n_rows, here.n_rows)


def test_words_become_rows_of_unit_length_and_numbers_are_standardised():
    X, _ = documents((0, 1), 30, 4)
    found = prepare(X)(X)
    np.testing.assert_allclose(np.sqrt((found * found).sum(axis=1)), 1.0)
    numbers = np.random.default_rng(0).normal(5, 3, size=(50, 4))
    np.testing.assert_allclose(prepare(numbers)(numbers).std(axis=0), 1.0)


def test_experience_decides_where_labels_cannot_tell():
    strengths = np.array(STRENGTHS)
    losses = np.full((len(strengths), 4), 0.5)
    for sign in (-1, 1):
        loss = 0.6 + sign * 0.2 * (strengths > 0)[None, None] * np.ones((5, 1, 1))
        experience = TransferExperience(np.array([2]), strengths, loss, np.ones(5))
        choice = choose_strength(strengths, losses, experience, 2)
        assert (choice.s > 0) == (sign < 0), str(choice)


def test_many_labels_overrule_experience():
    strengths = np.array(STRENGTHS)
    loss = np.where(strengths > 0, 0.5, 0.6)[None, None] * np.ones((5, 1, 1))
    experience = TransferExperience(np.array([20]), strengths, loss, np.ones(5))
    rng = np.random.default_rng(0)
    losses = 0.5 + 0.3 * (strengths > 0)[:, None] + 0.1 * rng.normal(size=(len(strengths), 200))
    assert choose_strength(strengths, losses, experience, 100).s == 0


def test_the_weights_that_matter_most_are_kept():
    X, y = documents((0, 1), 40, 4)
    found = fit_linear(X, y, classes=True)
    (kept,) = reference_weights(found, k=10)
    matter = np.abs(found.coef[0]) * found.spread
    assert matter[kept.columns].min() >= np.delete(matter, kept.columns).max()
    assert kept.rest**2 + kept.weights @ kept.weights == pytest.approx(
        found.coef[0] @ found.coef[0]
    )


def test_transfer_is_measured_on_rows_that_nobody_has_seen():
    prior = memory_of_pairs(PAST)
    X, y = documents((0, 1), 50, 7)
    curve = transfer_curve(X, y, classes=True, prior=prior)
    assert curve.shape == (3, len(STRENGTHS))
    assert curve[0, 3] < curve[0, 0]
    assert transfer_curve(X, y, classes=True, prior=prior, seen_rows=np.ones(100, bool)) is None
    assert transfer_curve(X, y, classes=True, prior=WeightPrior()) is None


def test_a_projection_on_all_candidates_is_the_reference_itself():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    found = fit_linear(X, (X[:, 0] - X[:, 1] > 0).astype(int), classes=True)
    projection = project(found, X, 5)
    assert set(projection.order[:2]) == {0, 1}
    np.testing.assert_allclose(
        projection.weights(projection.order)[0], found.coef[0][projection.order], atol=1e-8
    )
    assert projection.explained(5) == pytest.approx(1.0)
    shares = [projection.explained(k) for k in range(1, 6)]
    assert shares == sorted(shares)


def test_columns_that_memory_knows_as_words_stay_words_when_few_are_selected():
    rng = np.random.default_rng(0)
    X = (rng.random((40, 300)) < 0.05).astype(float)
    y = np.arange(40) % 2
    known = WeightPrior(words=np.ones(300, dtype=bool))
    few = np.arange(10)
    model = fit_linear(X[:, few], y, classes=True, prior=known.columns(few))
    assert model.preparation.words.all()
    assert not fit_linear(X[:, few], y, classes=True).preparation.words.any()
    negative = fit_linear(X[:, few] - 1, y, classes=True, prior=known.columns(few))
    assert not negative.preparation.words.any()


@pytest.mark.parametrize("kind", ["words", "numbers"])
def test_scales_of_other_columns_are_not_used(kind):
    rng = np.random.default_rng(0)
    share = rng.beta(0.3, 3.0, size=300)
    centre, width = rng.normal(size=300), rng.gamma(2.0, size=300)

    def rows(n):
        if kind == "words":
            return (rng.random((n, 300)) < share).astype(float)
        return centre + width * rng.normal(size=(n, 300))

    few, many = rows(12), scales_of(rows(2000))
    truth = prepare(rows(20_000)).factor
    order = rng.permutation(300)
    error = {
        name: np.mean(np.log(prepare(few, known).factor / truth) ** 2)
        for name, known in [("none", None), ("right", many), ("other", many.columns(order))]
    }
    assert error["right"] < 0.2 * error["none"]
    assert error["other"] < 1.2 * error["none"]


def test_past_models_of_one_question_are_the_prior_mean_of_a_number():
    rng = np.random.default_rng(0)
    common = rng.normal(size=40)
    past = common + 0.3 * rng.normal(size=(12, 40))
    X, X_test = rng.normal(size=(6, 40)), rng.normal(size=(500, 40))
    results, own = (
        fit_linear(X, X @ common, classes=False, prior=prior, strength=0.1, X_unlabelled=X_test)
        for prior in (WeightPrior(Directions.of(past)), None)
    )
    error = [np.mean((m.predict(X_test) - X_test @ common) ** 2) for m in (results, own)]
    assert error[0] < 0.1 * error[1]
    signs = np.where(np.arange(12) % 2, 1.0, -1.0)[:, None]
    without_common_part = fit_linear(
        X, X @ common, classes=False, prior=WeightPrior(Directions.of(signs * past)), strength=0.1
    )
    assert np.abs(without_common_part.from_memory).max() < 0.2 * np.abs(common).max()


def test_experience_of_less_coherent_memory_does_not_forbid_it():
    strengths = np.array(STRENGTHS)
    hurt = np.tile(np.linspace(0.7, 0.9, len(strengths)), (6, 3, 1))
    experience = TransferExperience(
        np.array([2.0, 5.0, 20.0]), strengths, hurt, np.ones(6), np.full(6, 0.1)
    )
    better = np.array([0.9, 0.8, 0.75, 0.7, 0.7, 0.7])[:, None]
    better = better + np.random.default_rng(0).normal(scale=0.3, size=(6, 10))
    chosen = [choose_strength(strengths, better, experience, 5.0, c).s for c in (0.1, 2.0)]
    assert chosen[1] > chosen[0]


@pytest.mark.parametrize("n_classes", [2, 4])
def test_probabilities_have_the_shares_of_the_classes_whatever_the_slope(n_classes):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(n_classes), [200, *range(30, 30 + 5 * (n_classes - 1), 5)])
    n_outputs = 1 if n_classes == 2 else n_classes
    decision = rng.normal(size=(len(y), n_outputs)) * 3 + 1
    sample_weight = rng.uniform(0.5, 2, len(y))
    for weights in (None, sample_weight):
        shares = np.bincount(y, weights=weights) / np.bincount(y, weights=weights).sum()
        for slope in (0.1, 1.0, 4.0):
            logits = slope * (decision + shift_to_shares(decision, y, slope, weights))
            if n_classes == 2:
                logits = np.column_stack([np.zeros(len(y)), logits])
            p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
            np.testing.assert_allclose(np.average(p, axis=0, weights=weights), shares, atol=2e-3)


def test_a_rare_class_is_as_probable_as_it_is_frequent():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 6))
    y = (X[:, 0] + 2 * rng.normal(size=400) > 3.5).astype(int)
    model = fit_linear(X, y, classes=True)
    assert model.slope < 0.9  # so the shares would not follow of themselves
    np.testing.assert_allclose(model.predict_proba(X)[:, 1].mean(), y.mean(), atol=2e-3)


def test_few_labels_that_are_separated_do_not_make_probabilities_sure():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    losses = []
    for _ in range(8):
        order = rng.permutation(300)
        some = np.concatenate([order[y[order] == c][:2] for c in (0, 1)])
        p = fit_linear(X[some], y[some], classes=True, X_unlabelled=X).predict_proba(X)
        losses.append(-np.mean(np.log(p[np.arange(300), y])))
    assert np.mean(losses) < 0.9  # 1.6 by the slope that suits the four rows best


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("value", [0.0, 0.1, 2024.0])
@pytest.mark.parametrize("counts", [(250, 50), (30, 30, 30)])
def test_where_all_rows_are_the_same_probabilities_are_the_shares_of_the_classes(counts, value):
    y = np.repeat(np.arange(len(counts)), counts)
    X = np.full((len(y), 120), value)
    model = fit_linear(X, y, classes=True)
    assert model.slope == 1.0
    assert model.predict_proba(X[:1])[0] == pytest.approx(np.array(counts) / len(y), abs=1e-3)
