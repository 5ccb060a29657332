import pickle
import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array, csr_matrix
from scipy.stats import rankdata, spearmanr
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB

from metafs.errors import MetafsError, UsageError
from metafs.testing import check_plugin
from metafs_graph import Affinity, InfFS, compare_centralities, feature_graph, hooks, inffs_scores
from metafs_graph import correlations as correlations_module
from metafs_graph import ranks as ranks_module
from metafs_graph.correlations import Correlations
from metafs_graph.inffs import personalisation
from metafs_graph.ranks import ranks_of

ALPHAS = st.sampled_from([0.0, 0.2, 0.5, 1.0])


def adjacency(X, alpha):
    """Equation 1, pair by pair; X has no constant column."""
    sigma = [float(np.std(column)) for column in X.T]
    largest = max(sigma)
    n = X.shape[1]
    A = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            sigma_ij = max(sigma[i], sigma[j]) / largest
            c_ij = 0.0 if i == j else 1 - abs(spearmanr(X[:, i], X[:, j]).statistic)
            A[i, j] = alpha * sigma_ij + (1 - alpha) * max(c_ij, 0.0)
    return A


def procedure_1(X, alpha, decay=0.9):
    """Procedure 1 as it stands, over the features that vary; the others score zero."""
    scores = np.zeros(X.shape[1])
    varies = X.min(axis=0) != X.max(axis=0)
    if varies.any():
        A = adjacency(X[:, varies], alpha)
        rho = max(abs(np.linalg.eigvalsh(A)))
        if rho > 1e-12:
            identity = np.eye(len(A))
            S = np.linalg.inv(identity - decay / rho * A) - identity
            scores[varies] = S @ np.ones(len(A))
    return scores


def factors(m, n, seed=0):
    """Features of different spread, many of them made of the same few."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(m, 4)) @ rng.normal(size=(4, n))
    return rng.normal(size=(m, n)) * rng.uniform(0.1, 2, n) + shared * rng.integers(0, 2, n)


def classes(m=90, n=12, seed=0):
    """Two features that tell the three classes apart, and noise of little spread."""
    rng = np.random.default_rng(seed)
    y = np.arange(m) % 3
    X = rng.normal(size=(m, n)) * 0.5
    X[:, 4] += 4 * (y == 1)
    X[:, 7] += 4 * (y == 2)
    return X, y


def test_the_package_offers_inffs_and_it_keeps_every_law():
    assert hooks.metafs_selectors().keys() == {"inffs"}
    check_plugin(hooks)


tables = st.tuples(st.integers(2, 12), st.integers(1, 6)).flatmap(
    lambda shape: st.one_of(
        arrays(np.float64, shape, elements=st.integers(-2, 2)),
        arrays(np.float64, shape, elements=st.sampled_from([0.0, 0.1, 0.3, -2.5, 1e6])),
        arrays(np.float64, shape, elements=st.floats(-10, 10, width=16)),
    )
)


@settings(max_examples=150, deadline=None)
@given(tables, ALPHAS)
def test_inffs_is_procedure_1(X, alpha):
    expected = procedure_1(X, alpha)
    fitted = InfFS(alpha=alpha).fit(X)
    np.testing.assert_allclose(fitted.scores_, expected, rtol=1e-8, atol=1e-10)
    varies = X.min(axis=0) != X.max(axis=0)
    if varies.any() and not varies.all():
        assert fitted.ranking_[varies].max() < fitted.ranking_[~varies].min()


@settings(max_examples=60, deadline=None)
@given(tables, ALPHAS, st.randoms())
def test_permuting_columns_permutes_scores(X, alpha, random):
    order = np.array(random.sample(range(X.shape[1]), X.shape[1]))
    scores = InfFS(alpha=alpha).fit(X).scores_
    shuffled = InfFS(alpha=alpha).fit(X[:, order]).scores_
    np.testing.assert_allclose(shuffled, scores[order], rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("alpha", [0.0, 0.2, 1.0])
@pytest.mark.parametrize("decay", [0.5, 0.9, 0.999])
def test_wide_and_correlated_data_agree_with_the_inverse(alpha, decay):
    X = factors(40, 700)
    R = abs(np.corrcoef(rankdata(X, axis=0).T))
    np.fill_diagonal(R, 1.0)
    sigma = X.std(axis=0) / X.std(axis=0).max()
    A = alpha * np.maximum.outer(sigma, sigma) + (1 - alpha) * (1 - R)
    rho = np.linalg.eigvalsh(A)[-1]
    expected = np.linalg.inv(np.eye(700) - decay / rho * A).sum(axis=1) - 1
    fitted = InfFS(alpha=alpha, decay=decay).fit(X)
    np.testing.assert_allclose(fitted.scores_, expected, rtol=1e-8)
    assert fitted.spectral_radius_ == pytest.approx(rho, rel=1e-10)


def test_blocks_rows_and_threads_change_nothing(monkeypatch):
    X = factors(60, 33)
    X[:, 5] = 1.0
    whole = ranks_of(X)
    monkeypatch.setattr(ranks_module, "_BLOCK", 150)
    monkeypatch.setattr(ranks_module, "_ROWS", 7)
    for n_jobs in (1, 2, 4):
        parts = ranks_of(X, n_jobs=n_jobs)
        np.testing.assert_array_equal(parts.unit, whole.unit)
        np.testing.assert_array_equal(parts.spread, whole.spread)
        np.testing.assert_array_equal(parts.varies, np.arange(33) != 5)
    one = InfFS(n_jobs=1).fit(X)
    np.testing.assert_array_equal(InfFS(n_jobs=3).fit(X).scores_, one.scores_)


def test_kept_single_precision_and_matrix_free_are_one(monkeypatch):
    monkeypatch.setattr(correlations_module, "TILE", 32)
    X = factors(30, 150)
    n_kept = 150 * (150 + 32) // 2
    scores = {}
    for name, kept_bytes in (("double", n_kept * 8), ("single", n_kept * 4), ("free", 0)):
        affinity = Affinity(X, kept_bytes=kept_bytes)
        assert (affinity.correlations._kept is None) == (name == "free")
        assert (affinity.correlations.precision < 1e-10) == (name == "double")
        scores[name] = inffs_scores(affinity, 0.2)[0]
    np.testing.assert_array_equal(scores["single"], scores["free"])
    np.testing.assert_allclose(scores["single"], scores["double"], rtol=1e-6)
    R = abs(np.corrcoef(rankdata(X, axis=0).T))
    v = np.random.default_rng(0).normal(size=150)
    np.testing.assert_allclose(Correlations(ranks_of(X).unit) @ v, R @ v, rtol=1e-10)


def test_the_target_has_no_part_in_the_ranking():
    X, y = classes()
    alone = InfFS().fit(X)
    for target in (y, y[::-1], np.zeros(90), X[:, 0]):
        fitted = InfFS().fit(X, target)
        np.testing.assert_array_equal(fitted.scores_, alone.scores_)
        np.testing.assert_array_equal(fitted.get_support(), alone.get_support())


def test_dense_sparse_and_frames_give_the_same_names_and_pickle():
    X = factors(50, 8) * (np.random.default_rng(1).random((50, 8)) < 0.4)
    y = np.arange(50) % 2
    scores = InfFS().fit(X, y).scores_
    np.testing.assert_array_equal(InfFS().fit(csr_matrix(X), y).scores_, scores)
    np.testing.assert_array_equal(InfFS().fit(np.asfortranarray(X), y).scores_, scores)
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(8)])
    fitted = InfFS(3).fit(frame, y)
    best = np.argsort(-scores)[:3]
    assert set(fitted.get_feature_names_out()) == {f"f{j}" for j in best}
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).ranking_, fitted.ranking_)
    assert fitted.n_features_ == 3 and fitted.alpha_ == 0.2 and fitted.cv_scores_ is None
    assert fitted.n_evaluations_ == 8


def test_edge_cases_score_numbers():
    rng = np.random.default_rng(0)
    constant = InfFS().fit(np.full((5, 3), 0.1))
    np.testing.assert_array_equal(constant.scores_, 0.0)
    assert constant.spectral_radius_ == 0.0 and constant.get_support().sum() == 1
    one = InfFS().fit(rng.normal(size=(9, 1)))
    np.testing.assert_allclose(one.scores_, 9.0)
    assert InfFS(alpha=0).fit(rng.normal(size=(9, 1))).scores_.tolist() == [0.0]
    x = rng.normal(size=40)
    alike = np.column_stack([np.ones(40), x, x**3, -np.exp(x)])
    fitted = InfFS(3, alpha=0.0).fit(alike)
    np.testing.assert_array_equal(fitted.scores_, 0.0)
    np.testing.assert_array_equal(fitted.get_support(), [False, True, True, True])
    huge = np.column_stack([x / abs(x).max() * 1e308, x[::-1], x * 1e-300])
    tame = np.column_stack([x, x[::-1] * 1e-30, x * 1e-40])
    np.testing.assert_allclose(InfFS().fit(huge).scores_, procedure_1(tame, 0.2), rtol=1e-8)
    assert (InfFS().fit([[0.0, 1.0], [1.0, 3.0]]).scores_ > 0).all()
    with pytest.raises(ValueError, match="NaN"):
        InfFS().fit([[0.0, np.nan], [1.0, 2.0]])


def test_the_prior_personalises():
    X = factors(60, 30)
    published = InfFS().fit(X)
    np.testing.assert_array_equal(InfFS().fit(X, prior=None).scores_, published.scores_)
    for level in (0.0, 0.3, 1.0):
        uniform = InfFS().fit(X, prior=np.full(30, level))
        np.testing.assert_allclose(uniform.scores_, published.scores_, rtol=1e-12)
        np.testing.assert_array_equal(uniform.ranking_, published.ranking_)
    A = adjacency(X, 0.2)
    r = 0.9 / np.linalg.eigvalsh(A)[-1]
    risen = []
    for feature in range(30):
        expected = np.zeros(30)
        expected[feature] = 1.0
        v = personalisation(expected)
        assert v.mean() == pytest.approx(1) and v.max() == pytest.approx(2 * v.min())
        personalised = InfFS().fit(X, prior=expected)
        literal = np.linalg.solve(np.eye(30) - r * A, v) - 1
        np.testing.assert_allclose(personalised.scores_, literal, rtol=1e-8)
        risen.append(published.ranking_[feature] - personalised.ranking_[feature])
    assert min(risen) >= 0 and np.mean(risen) > 3


def test_a_wrong_prior_leaves_most_of_the_ranking_as_it_is():
    X = factors(60, 200)
    published = InfFS(20).fit(X)
    wrong = (published.ranking_ > 180).astype(float)
    misled = InfFS(20).fit(X, prior=wrong)
    assert spearmanr(published.ranking_, misled.ranking_).statistic > 0.8
    assert (published.get_support() & misled.get_support()).sum() >= 18


def test_alpha_and_number_are_chosen_inside_the_folds():
    X, y = classes()
    fitted = InfFS("cv", alpha="cv", alphas=[0.0, 1.0], sizes=[1, 2, 12]).fit(X, y)
    assert fitted.cv_scores_.shape == (2, 3)
    assert (fitted.alpha_, fitted.n_features_) == (1.0, 2), "the two that spread most"
    np.testing.assert_array_equal(np.flatnonzero(fitted.get_support()), [4, 7])
    assert fitted.n_evaluations_ == 12 + 5 * 2 * 3
    np.testing.assert_array_equal(fitted.scores_, InfFS(alpha=1.0).fit(X).scores_)

    seen = []

    class Watched(GaussianNB):
        def fit(self, X, y):
            seen.append(X.copy())
            return super().fit(X, y)

    folds = KFold(3)
    InfFS(2, alpha="cv", alphas=[0.3], cv=folds, learner=Watched()).fit(X, y)
    for (train, _), used in zip(folds.split(X), seen, strict=True):
        best = np.argsort(InfFS(alpha=0.3).fit(X[train]).ranking_)[:2]
        np.testing.assert_array_equal(used, X[train][:, best])


def test_cross_validation_is_only_for_what_is_left_to_it():
    X, y = classes()
    number = InfFS("cv", alpha=0.4).fit(X, y)
    assert number.alpha_ == 0.4 and number.cv_scores_.shape == (1, 8)
    assert number.get_support().sum() == number.n_features_
    shares = InfFS("cv", sizes=[0.25, 12, 1.0]).fit(X, y)
    assert shares.cv_scores_.shape == (1, 2), "a quarter of the features, and all of them"
    mixed = InfFS(0.5, alpha="cv").fit(csr_array(X), np.array(["a", "b", "c"])[y])
    assert mixed.cv_scores_.shape == (11, 1) and mixed.n_features_ == 6
    assert mixed.alpha_ == round(mixed.cv_scores_.argmax() * 0.1, 1)
    again = clone(mixed).fit(X, y)
    np.testing.assert_array_equal(again.cv_scores_, mixed.cv_scores_)


def test_numbers_are_discretised_unless_the_learner_is_a_regressor():
    X, _ = classes()
    y = 3 * X[:, 4] + X[:, 7]
    for learner in (None, Ridge()):
        fitted = InfFS("cv", alpha=1.0, learner=learner).fit(X, y)
        assert fitted.get_support()[[4, 7]].all()
    assert fitted.cv_scores_.max() > 0.99
    scored = InfFS("cv", alpha=1.0, scoring="balanced_accuracy").fit(X, y)
    assert scored.cv_scores_.max() <= 1


def test_few_samples_of_a_class_mean_fewer_folds_and_too_few_a_sentence():
    X, y = classes(m=30)
    y = np.where(np.arange(30) < 3, 2, y % 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = InfFS("cv", sizes=[2, 5]).fit(X, y)
    assert fitted.n_evaluations_ == 12 + 3 * 2
    for wrong in (np.zeros(30), np.arange(30) < 1):
        with pytest.raises(UsageError, match="two classes with two samples"):
            InfFS("cv").fit(X, wrong)
    with pytest.raises(UsageError, match="give y to fit"):
        InfFS("cv").fit(X)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"alpha": 1.5}, "alpha is 1.5"),
        ({"alpha": "best"}, "alpha is 'best'"),
        ({"alpha": np.nan}, "alpha is nan"),
        ({"alpha": "cv", "alphas": [2.0]}, "alpha is 'cv'"),
        ({"alpha": "cv", "alphas": []}, "alpha is 'cv'"),
        ({"decay": 1.0}, "decay must lie between 0 and 1"),
        ({"decay": "slow"}, "decay must lie between 0 and 1, not 'slow'"),
        ({"n_features_to_select": 0}, "n_features_to_select is 0"),
        ({"n_features_to_select": "best"}, "n_features_to_select is 'best'"),
        ({"n_features_to_select": "cv", "sizes": [0]}, "n_features_to_select is 0"),
        ({"n_features_to_select": "cv", "sizes": []}, "sizes is empty"),
    ],
)
def test_impossible_settings_are_a_sentence(wrong, sentence):
    X, y = classes()
    with pytest.raises(UsageError, match=sentence):
        InfFS(**wrong).fit(X, y)


def test_what_cannot_be_made_dense_is_a_sentence():
    wide = csr_array((np.ones(2), ([0, 1], [0, 1])), shape=(1_000_000, 1_000))
    with pytest.raises(MetafsError, match="inffs needs all"):
        InfFS().fit(wide, np.arange(1_000_000) % 2)


def test_the_whole_graph_is_the_matrix():
    X = factors(40, 9)
    X[:, 3] = 2.0
    names = [f"f{j}" for j in range(9)]
    graph = feature_graph(pd.DataFrame(X, columns=names), alpha=0.3)
    kept = np.delete(np.arange(9), 3)
    assert list(graph) == [names[j] for j in kept]
    A = adjacency(X[:, kept], 0.3)
    np.testing.assert_allclose(nx.to_numpy_array(graph), A, atol=1e-12)
    fitted = InfFS(alpha=0.3).fit(X)
    for j in kept:
        node = graph.nodes[names[j]]
        assert node["score"] == fitted.scores_[j] and node["rank"] == fitted.ranking_[j]
        assert node["spread"] == pytest.approx(X[:, j].std() / X.std(axis=0).max())
    katz = nx.katz_centrality_numpy(
        graph, 0.9 / graph.graph["spectral_radius"], normalized=False, weight="weight"
    )
    np.testing.assert_allclose([katz[n] - 1 for n in graph], fitted.scores_[kept], rtol=1e-8)


def test_the_strongest_edges_are_found_without_the_others(monkeypatch):
    monkeypatch.setattr(correlations_module, "TILE", 8)
    monkeypatch.setattr("metafs_graph.graph.TILE", 8)
    X = factors(25, 30)
    A = np.triu(adjacency(X, 0.2), k=1)
    one, other = np.unravel_index(np.argsort(-A, axis=None)[:17], A.shape)
    graph = feature_graph(X, n_edges=17)
    assert len(graph) == 30
    assert {frozenset(edge) for edge in graph.edges} == {
        frozenset((f"x{i}", f"x{j}")) for i, j in zip(one, other, strict=True)
    }
    for i, j in zip(one, other, strict=True):
        assert graph.edges[f"x{i}", f"x{j}"]["weight"] == pytest.approx(A[i, j])
    assert feature_graph(X, n_edges=10_000).number_of_edges() == 30 * 29 // 2


def test_centralities_are_compared_and_katz_agrees():
    X = factors(40, 25)
    compared = compare_centralities(feature_graph(X))
    assert compared.keys() == {"katz", "eigenvector", "strength", "pagerank"}
    assert compared["katz"] == pytest.approx(1.0)
    assert all(0.9 < r <= 1 + 1e-12 for r in compared.values())
    few = compare_centralities(feature_graph(csr_array(X), n_edges=60))
    assert all(np.isfinite(r) for r in few.values())


def test_graphs_that_cannot_be_are_a_sentence():
    X = factors(20, 4)
    with pytest.raises(UsageError, match="2 feature names for 4 features"):
        feature_graph(X, ["a", "b"])
    with pytest.raises(UsageError, match="n_edges must be at least 1"):
        feature_graph(X, n_edges=0)
    with pytest.raises(UsageError, match="only 2 features"):
        compare_centralities(feature_graph(X, n_edges=1))
    with pytest.raises(UsageError, match="only 0 features"):
        compare_centralities(feature_graph(np.ones((5, 4))))
    x = X[:, :1]
    with pytest.raises(UsageError, match="nothing to compare"):
        compare_centralities(feature_graph(np.hstack([x, 2 * x, 3 * x]), alpha=0.0))


def test_two_nodes_of_one_name_are_refused():
    with pytest.raises(UsageError, match="the same name"):
        feature_graph(np.arange(6.0).reshape(2, 3), ["a", "a", "b"])
