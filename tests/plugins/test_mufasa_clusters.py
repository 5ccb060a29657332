import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import metafs_metafeatures.mufasa.clusters as clusters_module
from metafs_metafeatures.mufasa.clusters import FeatureClusters, medoids, standardised


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**31 - 1), st.integers(1, 40), st.integers(1, 8), st.integers(1, 3))
def test_clusters_are_taken_from_the_nearest_medoid_on(seed, n_features, n_clusters, k):
    rng = np.random.default_rng(seed)
    U = np.round(rng.normal(size=(n_features, k)), 1)
    space = FeatureClusters.of(U, n_clusters, seed=0)
    u = space.nearest(rng.normal(size=k) * 3)
    low, high = space.bounds.T
    assert ((low <= u) & (u <= high)).all()
    assert len(space.medoids) <= n_clusters or len(np.unique(U, axis=0)) <= n_clusters
    order = space.order(u, rng)
    assert sorted(order.tolist()) == list(range(n_features))
    middles = U[space.medoids]
    for feature in range(n_features):
        own = np.linalg.norm(U[feature] - middles[space.labels[feature]])
        assert own <= np.linalg.norm(U[feature] - middles, axis=1).min() + 1e-9
    distances = np.linalg.norm(middles[space.labels[order]] - u, axis=1)
    assert (np.diff(distances) >= -1e-9).all()


def test_features_of_a_cluster_are_drawn_evenly():
    space = FeatureClusters.of(np.array([[0.0], [0.1], [0.2], [9.0]]), 2, seed=0)
    rng = np.random.default_rng(0)
    first = np.bincount([space.order([0.0], rng)[0] for _ in range(900)], minlength=4)
    assert first[3] == 0 and abs(first[:3] - 300).max() < 65


def test_medoids_with_and_without_scikit_learn_extra(monkeypatch):
    rng = np.random.default_rng(0)
    U = np.concatenate([rng.normal(size=(30, 2)) + centre for centre in ([0, 0], [9, 0], [0, 9])])
    plain = medoids(U, 3, seed=0)
    assert sorted(plain // 30) == [0, 1, 2]

    class KMedoids:
        def __init__(self, n_clusters, init, random_state):
            self.n_clusters = n_clusters

        def fit(self, U):
            self.medoid_indices_ = np.arange(self.n_clusters)
            return self

    def offered(name):
        assert name == "sklearn_extra.cluster"
        return type("module", (), {"KMedoids": KMedoids})

    monkeypatch.setattr(clusters_module, "import_module", offered)
    assert medoids(U, 3, seed=0).tolist() == [0, 1, 2]

    def incompatible(name):
        raise ValueError("numpy.dtype size changed")

    monkeypatch.setattr(clusters_module, "import_module", incompatible)
    np.testing.assert_array_equal(medoids(U, 3, seed=0), plain)


def test_standardised_meta_features_can_be_read_back():
    given = np.array([[1.0, np.nan, 5.0], [3.0, 2.0, 5.0], [8.0, 4.0, 5.0]])
    U, middle, scale = standardised(given)
    np.testing.assert_allclose(U * scale + middle, [[1, 3, 5], [3, 2, 5], [8, 4, 5]])
    np.testing.assert_allclose(U[:, :2].std(axis=0), 1.0)
    assert (U[:, 2] == 0).all()
