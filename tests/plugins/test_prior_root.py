from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import sqrtm
from scipy.sparse import csr_array

from metafs.errors import UsageError
from metafs_metafeatures import Gaussian, GroupedGaussian, OrientedGaussian
from metafs_metafeatures.generators.monomials import MonomialGenerator, all_monomials, period
from metafs_metafeatures.gp_prior import blocks as prior_blocks
from metafs_metafeatures.gp_prior.blocks import along_axes, symmetric_root
from metafs_metafeatures.gp_prior.covariance import AlongColumn
from metafs_metafeatures.gp_prior.root import LARGEST_BLOCK, PriorRoot, in_order, prior_root

GROUPED = GroupedGaussian(0.8, groups=(0,))


def grid(*sizes):
    return np.stack(np.meshgrid(*map(np.arange, sizes), indexing="ij"), -1).reshape(-1, len(sizes))


@st.composite
def described(draw):
    """Groups of features: full grids, grids with gaps, repeated and scattered ones, shuffled."""
    parts = []
    for group in range(draw(st.integers(1, 3))):
        places = grid(draw(st.integers(1, 4)), draw(st.integers(1, 4))).astype(float)
        kind = draw(st.sampled_from(["full", "gaps", "repeated", "scattered"]))
        rng = np.random.default_rng(draw(st.integers(0, 99)))
        if kind == "gaps":
            places = places[rng.random(len(places)) < 0.7]
        if kind == "repeated":
            places = places[rng.integers(0, len(places), len(places) + 2)]
        if kind == "scattered":
            places = rng.normal(scale=2.0, size=places.shape)
        parts.append(np.column_stack([np.full(len(places), group), places]))
    U = np.concatenate(parts)
    return U[np.random.default_rng(len(U)).permutation(len(U))]


@settings(max_examples=40, deadline=None)
@given(described(), st.sampled_from([GROUPED, Gaussian(0.8), Gaussian(0.8, positions=(1, 2))]))
def test_the_root_times_itself_is_the_covariance(U, covariance):
    root, C = prior_root(covariance, U, len(U)), covariance(U, U)
    R = root.to_dense()
    np.testing.assert_allclose(R, R.T, atol=1e-8)
    np.testing.assert_allclose(R @ R, C, atol=1e-8)
    assert len(R) == 0 or np.linalg.eigvalsh(R).min() > -1e-8
    X = np.random.default_rng(0).normal(size=(3, len(U)))
    np.testing.assert_allclose(root.times_covariance(X), X @ C, atol=1e-7)
    np.testing.assert_allclose(root.gram(X), X @ C @ X.T, atol=1e-7)


def test_as_many_places_as_a_grid_has_need_not_be_one():
    U = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
    root = prior_root(Gaussian(1.0), U, 4)
    assert len(root.blocks[0].factors) == 1
    R = root.to_dense()
    np.testing.assert_allclose(R @ R, Gaussian(1.0)(U, U), atol=1e-12)


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 3), st.integers(1, 5), st.integers(1, 5), st.floats(0.3, 1.0))
def test_it_is_the_principal_root(n_groups, height, width, sigma):
    places = grid(n_groups, height, width).astype(float)
    covariance = GroupedGaussian(sigma, groups=(0,))
    root = prior_root(covariance, places, len(places))
    (blocks,) = root.blocks
    assert [len(factor.matrix) for factor in blocks.factors] == [
        size for size in (height, width) if size > 1
    ]
    expected = sqrtm(covariance(places, places)).real
    np.testing.assert_allclose(root.to_dense(), expected, atol=1e-7)


def test_the_root_of_the_paper_s_features_is_two_small_ones():
    _, U = all_monomials()
    root = prior_root(GroupedGaussian(6.0, groups=(0, 1, 2)), U, len(U))
    (blocks,) = root.blocks
    assert blocks.columns.shape == (60, 400)
    assert [factor.matrix.shape for factor in blocks.factors] == [(20, 20), (20, 20)]
    assert sorted(blocks.columns.ravel()) == list(range(24_000))
    few = np.random.default_rng(0).normal(size=(2, 24_000))
    C = Gaussian(6.0)(U[:400, 3:], U[:400, 3:])
    expected = np.concatenate([few[:, i : i + 400] @ C for i in range(0, 24_000, 400)], axis=1)
    np.testing.assert_allclose(root.times_covariance(few), expected, atol=1e-7)
    np.testing.assert_allclose(root.times_root(root.times_root(few)), expected, atol=1e-6)


def test_orientations_are_a_third_axis():
    generator = MonomialGenerator((10, 11), 3, ((2, 8), (4, 16)))
    _, U = all_monomials(generator)
    covariance = OrientedGaussian(
        1.5, (3, 4), (0, 1), 2, 25.0, period, (lambda t: 4 - t, lambda r: 1 / r)
    )
    root = prior_root(covariance, U, len(U))
    assert [len(blocks.factors) for blocks in root.blocks] == [3] * 4
    R = root.to_dense()
    np.testing.assert_allclose(R @ R, covariance(U, U), atol=2e-3)  # not quite a covariance
    narrow = replace(covariance, sigma_phi=10.0)
    R = prior_root(narrow, U, len(U)).to_dense()
    np.testing.assert_allclose(R @ R, narrow(U, U), atol=1e-8)


def test_negative_eigenvalues_are_left_out():
    angles = np.arange(0.0, 180.0, 22.5)
    C = AlongColumn(60.0, 180.0)(angles, angles)
    values, vectors = np.linalg.eigh(C)
    assert values.min() < -1e-3
    R = symmetric_root(C)
    np.testing.assert_allclose(R @ R, (vectors * values.clip(0)) @ vectors.T, atol=1e-12)


@pytest.mark.parametrize("covariance", [GROUPED, lambda U, V: np.exp(-np.abs(U[:, 1:2] - V[:, 1]))])
def test_a_feature_with_a_missing_meta_feature_is_independent(covariance):
    U = np.column_stack([np.repeat([0.0, 1.0], 6), np.tile(np.arange(6.0), 2)])
    U[3, 1] = U[8, 0] = np.nan
    R = prior_root(covariance, U, 12).to_dense()
    C = R @ R
    np.testing.assert_array_equal(C[[3, 8]], np.eye(12)[[3, 8]])
    known = np.delete(np.arange(12), [3, 8])
    inside = np.ix_(known, known)
    np.testing.assert_allclose(C[inside], covariance(U[known], U[known]), atol=1e-8)


def test_what_the_covariance_does_not_look_at_may_be_missing():
    U = np.array([[np.nan, 0.0], [np.nan, 1.0]])
    root = prior_root(Gaussian(1.0, positions=(1,)), U, 2)
    assert not len(root.independent)


def test_nothing_known_is_the_identity():
    X = np.random.default_rng(0).normal(size=(4, 6))
    U = np.full((6, 2), np.nan)
    for root in (
        prior_root(None, None, 6),
        prior_root(GROUPED, None, 6),
        prior_root(GROUPED, U, 6),
        prior_root(lambda U, V: np.ones((len(U), len(V))), U, 6),
    ):
        np.testing.assert_array_equal(root.times_root(X), X)
        np.testing.assert_allclose(root.gram(X), X @ X.T)


def test_sparse_rows_are_mapped_as_dense_ones():
    rng = np.random.default_rng(0)
    U = np.column_stack([rng.integers(0, 2, 40), rng.normal(size=40)])
    U[5] = np.nan
    X = rng.normal(size=(7, 40)) * (rng.random((7, 40)) < 0.2)
    root = prior_root(GROUPED, U, 40)
    for product in (PriorRoot.times_root, PriorRoot.times_covariance, PriorRoot.gram):
        np.testing.assert_allclose(product(root, csr_array(X)), product(root, X), atol=1e-12)
    single = root.times_root(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, root.times_root(X), atol=1e-5)


def test_permuting_features_permutes_the_root():
    U = np.column_stack([grid(2, 3, 3), np.zeros(18)]).astype(float)
    order = np.random.default_rng(1).permutation(18)
    R = prior_root(GROUPED, U, 18).to_dense()
    np.testing.assert_allclose(
        prior_root(GROUPED, U[order], 18).to_dense(), R[np.ix_(order, order)], atol=1e-12
    )


def test_large_blocks_do_without_a_root_in_products(monkeypatch):
    rng = np.random.default_rng(2)
    U, X = rng.normal(size=(30, 2)), rng.normal(size=(5, 30))
    expected = prior_root(Gaussian(1.0), U, 30).gram(X)
    monkeypatch.setattr(prior_blocks, "_SMALL", 10)
    monkeypatch.setattr(prior_blocks, "symmetric_root", None)
    np.testing.assert_allclose(prior_root(Gaussian(1.0), U, 30).gram(X), expected, atol=1e-9)


def test_too_many_related_features_are_a_sentence():
    n = LARGEST_BLOCK + 1
    scattered = np.column_stack([np.arange(n), np.arange(n) ** 2 % 97])
    with pytest.raises(UsageError, match="without forming a grid"):
        prior_root(Gaussian(1.0), scattered, n)
    with pytest.raises(UsageError, match="without forming a grid"):
        prior_root(lambda U, V: np.eye(len(U)), scattered, n)
    on_a_grid = grid(160, 160).astype(float)
    assert len(on_a_grid) > n
    assert len(prior_root(Gaussian(1.0), on_a_grid, len(on_a_grid)).blocks[0].factors) == 2


@pytest.mark.parametrize(
    "wrong",
    [
        lambda U, V: np.ones(len(U)),
        lambda U, V: np.triu(np.ones((len(U), len(V)))),
        lambda U, V: np.full((len(U), len(V)), np.nan),
    ],
)
def test_a_function_that_is_no_covariance_is_refused(wrong):
    with pytest.raises(UsageError, match="must be a symmetric matrix of 3 x 3"):
        prior_root(wrong, np.zeros((3, 1)), 3)


def test_kronecker_products_along_three_axes():
    rng = np.random.default_rng(0)
    matrices = [(lambda A: A + A.T)(rng.normal(size=(n, n))) for n in (2, 3, 4)]
    dense = np.kron(np.kron(matrices[0], matrices[1]), matrices[2])
    rows = rng.normal(size=(5, 24))
    np.testing.assert_allclose(along_axes(rows, matrices), rows @ dense)


def test_rows_are_sorted_by_group_and_then_along_the_axes():
    rng = np.random.default_rng(0)
    U = rng.integers(0, 3, size=(50, 4)).astype(float)
    order, starts = in_order(U, [2, 0], [1])
    assert sorted(order) == list(range(50))
    groups = [U[rows] for rows in np.split(order, starts)]
    assert len(groups) == len({(row[2], row[0]) for row in U})
    for rows in groups:
        assert len({(row[2], row[0]) for row in rows}) == 1
        assert (np.diff(rows[:, 1]) >= 0).all()
    order, starts = in_order(U, [], [])
    assert order.tolist() == list(range(50)) and not len(starts)
