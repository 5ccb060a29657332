import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

from metafs import Problem, Registry, solve
from metafs.errors import UsageError
from metafs.plugin.prior import Prior, Source
from metafs.stats.shrinkage import chance_quality, shrink
from metafs_filters import Fisher, InfoGain, InfoGainSelector, ShrunkSelector

GOOD = 20


def few_labels(seed, n=6, n_features=600):
    """Return X with 2n rows, y, and evidence: the first 20 features are relevant."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], n)
    rate = rng.uniform(0.1, 0.6, n_features)
    p = np.tile(rate, (2 * n, 1))
    p[y == 0, : GOOD // 2] = p[y == 1, GOOD // 2 : GOOD] = 0.05
    p[y == 1, : GOOD // 2] = p[y == 0, GOOD // 2 : GOOD] = 0.6
    X = (rng.random(p.shape) < p).astype(float)
    known = np.where(np.arange(n_features) < GOOD, 0.5, 0.1) * rng.random(n_features)
    return X, y, known


def found(selector, X, y, prior=None):
    return int(clone(selector).fit(X, y, prior=prior).get_support()[:GOOD].sum())


def test_without_a_prior_it_is_the_measured_quality():
    X, y, _ = few_labels(0)
    shrunk = ShrunkSelector(GOOD, balance=False).fit(X, y)
    infogain = InfoGainSelector(GOOD).fit(X, y)
    np.testing.assert_array_equal(shrunk.scores_, infogain.scores_)
    np.testing.assert_array_equal(shrunk.ranking_, infogain.ranking_)
    assert shrunk.expected_ is None
    assert (shrunk.weight_ == 1).all()
    assert shrunk.n_evaluations_ == X.shape[1]


def test_selection_is_class_balanced_with_and_without_a_prior():
    X, y, known = few_labels(0)
    X[y == 1] = np.maximum(X[y == 1], np.random.default_rng(1).random(X[y == 1].shape) < 0.3)
    for prior in (None, known):
        plain, balanced = (
            ShrunkSelector(GOOD, balance=balance).fit(X, y, prior=prior)
            for balance in (False, True)
        )
        np.testing.assert_array_equal(plain.scores_, balanced.scores_)
        assert sorted(balanced.ranking_) == list(range(1, X.shape[1] + 1))
        plain_sum, balanced_sum = (
            each.class_association_[:, each.get_support()].sum(axis=1) for each in (plain, balanced)
        )
        largest = balanced.class_association_[:, balanced.get_support()].max()
        assert np.abs(balanced_sum).max() <= largest < np.abs(plain_sum).max()


def test_neighbours_are_weighted_by_the_classes_they_share():
    X, y, _ = few_labels(7)
    wide = X.shape[1]
    rng = np.random.default_rng(0)
    rows = np.zeros((4, wide))
    rows[:2, : GOOD // 2] = rows[2:, GOOD // 2 : GOOD] = 1.0
    rows[:2, 100:400] = rng.random((2, 300)) < 0.5
    rows[2:, 100:400] = rng.random((2, 300)) < 0.5
    sources = tuple(Source(f"p{i}", 0.5, 0.25, row) for i, row in enumerate(rows))
    options = Prior(rows.mean(axis=0), sources=sources)
    alone = Prior(rows.mean(axis=0))
    weighted, unweighted = (
        ShrunkSelector(GOOD).fit(X, y, prior=prior) for prior in (options, alone)
    )
    assert weighted.get_support()[:GOOD].sum() > unweighted.get_support()[:GOOD].sum()


def test_with_a_prior_it_is_the_shrinkage_of_what_is_measured():
    X, y, known = few_labels(1)
    selector = ShrunkSelector(GOOD, random_state=3, n_draws=4, noise_inflation=2.0)
    selector.fit(X, y, prior=Prior(known))
    seed = int(np.random.RandomState(3).randint(2**31))
    noise = chance_quality(X, y, InfoGain(), n_draws=4, random_state=seed)
    expected = shrink(InfoGain()(X, y), noise, known, noise_inflation=2.0)
    np.testing.assert_allclose(selector.scores_, expected.quality)
    np.testing.assert_allclose(selector.expected_, expected.expected)
    np.testing.assert_allclose(selector.weight_, expected.weight)
    np.testing.assert_allclose(selector.measured_, InfoGain()(X, y))
    assert selector.n_evaluations_ == 5 * X.shape[1]


def test_few_labels_and_memory_find_more_than_either_alone():
    draws = [few_labels(seed) for seed in range(8)]
    selector = ShrunkSelector(GOOD, balance=False)
    cold = sum(found(selector, X, y) for X, y, _ in draws)
    memory = sum(int((np.argsort(-known)[:GOOD] < GOOD).sum()) for _, _, known in draws)
    both = sum(found(selector, X, y, known) for X, y, known in draws)
    assert both > cold + 16
    assert both > memory


def test_with_many_labels_a_wrong_memory_does_no_harm():
    X, y, known = few_labels(2, n=300)
    wrong = 0.5 - known
    assert found(ShrunkSelector(GOOD), X, y) == found(ShrunkSelector(GOOD), X, y, wrong) == GOOD


@pytest.mark.parametrize("nothing", [0.0, 1.0])
def test_a_constant_prior_changes_nothing(nothing):
    X, y, known = few_labels(3)
    prior = np.full(len(known), nothing)
    with_prior = ShrunkSelector(30, balance=False).fit(X, y, prior=prior)
    cold = ShrunkSelector(30, balance=False).fit(X, y)
    worst = cold.measured_[with_prior.get_support()].min()
    assert worst >= cold.measured_[cold.get_support()].min() - 1e-12


def test_permuting_columns_permutes_scores_and_sparse_is_dense():
    X, y, known = few_labels(4)
    plain = ShrunkSelector(GOOD).fit(X, y, prior=known).scores_
    order = np.random.default_rng(0).permutation(X.shape[1])
    permuted = ShrunkSelector(GOOD).fit(X[:, order], y, prior=known[order]).scores_
    np.testing.assert_allclose(permuted, plain[order], rtol=1e-6)
    sparse = ShrunkSelector(GOOD).fit(csr_array(X), y, prior=known).scores_
    np.testing.assert_allclose(sparse, plain, rtol=1e-9)


def test_any_measure_serves_by_name_too():
    X, y, known = few_labels(5)
    by_fisher = ShrunkSelector(GOOD, quality=Fisher()).fit(X, y, prior=known)
    np.testing.assert_allclose(by_fisher.measured_, Fisher()(X, y))
    names = [f"w{j}" for j in range(X.shape[1])]
    problem = Problem.of(X, y, feature_names=names, name="p")
    solution = next(
        solve(problem, db=None, selector="shrunk", folds=2, params={"quality": "fisher"})
    )
    assert solution.status == "solved"


def test_categories_and_missing_values_are_handled_as_by_infogain():
    X = np.array([[0.0, 1.0], [5.0, np.nan], [0.0, 2.0], [5.0, 3.0], [3.0, 4.0], [3.0, 5.0]])
    y = [0, 1, 0, 1, 1, 1]
    options = {"categorical_features": [0]}
    shrunk = ShrunkSelector(1, **options).fit(X, y, prior=[0.1, 0.2])
    np.testing.assert_array_equal(
        shrunk.measured_, InfoGainSelector(1, **options).fit(X, y).scores_
    )


def test_memory_of_a_stream_reaches_the_selector(tmp_path):
    stream = []
    for seed in range(6):
        X, y, _ = few_labels(seed, n=40 if seed < 5 else 3, n_features=120)
        names = [f"w{j}" for j in range(X.shape[1])]
        stream.append(Problem.of(X, y, feature_names=names, name=f"p{seed}", source=f"s{seed}"))
    params = {"n_features_to_select": GOOD}
    settings = {"params": params, "folds": 2, "learner": "naive-bayes"}
    known = {f"w{j}" for j in range(GOOD)}
    list(solve(stream[:5], db=tmp_path / "m.duckdb", selector="infogain", **settings))
    warm, cold = (
        next(solve(stream[5], db=db, selector="shrunk", **settings))
        for db in (tmp_path / "m.duckdb", None)
    )
    assert warm.neighbours
    assert len(known & set(warm.features)) > len(known & set(cold.features)) + 3


def test_it_is_offered_and_its_parameters_are_checked():
    assert isinstance(Registry().selectors["shrunk"], ShrunkSelector)
    X, y, known = few_labels(6, n_features=30)
    with pytest.raises(UsageError, match="noise_inflation"):
        ShrunkSelector(noise_inflation=-1).fit(X, y, prior=known)
    with pytest.raises(UsageError, match="n_draws"):
        ShrunkSelector(n_draws=1).fit(X, y, prior=known)
