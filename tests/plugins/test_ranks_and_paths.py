import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import rankdata

from metafs_graph import ranks as ranks_module
from metafs_graph.paths import path_energies, times_larger
from metafs_graph.ranks import centred_ranks


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from([1, 5]).flatmap(
        lambda n: arrays(
            np.float64,
            (n, 37),
            elements=st.one_of(
                st.integers(-3, 3), st.floats(allow_nan=False, allow_infinity=False)
            ),
        )
    ),
    st.sampled_from([1, 10_000]),
)
def test_ranks_are_average_ranks_sorted_in_either_way(rows, tall):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranks_module, "_TALL", tall)
        ranks = centred_ranks(rows)
    np.testing.assert_allclose(ranks, rankdata(rows, axis=1) - 19, atol=1e-12)


@pytest.mark.parametrize("shape", ["even", "heavy", "ties", "two", "sorted"])
def test_tall_columns_are_ranked_whatever_their_distribution(shape):
    rng = np.random.default_rng(0)
    column = {
        "even": rng.random(5000),
        "heavy": np.exp(5 * rng.normal(size=5000)),
        "ties": rng.integers(0, 50, 5000).astype(float),
        "two": rng.integers(0, 2, 5000) * 1e300,
        "sorted": np.arange(5000.0),
    }[shape]
    np.testing.assert_allclose(centred_ranks(column[None])[0], rankdata(column) - 2500.5)


@settings(max_examples=100, deadline=None)
@given(arrays(np.float64, (9,), elements=st.sampled_from([0.0, 0.2, 0.2, 0.9, 1.0])))
def test_the_larger_of_two_spreads_is_multiplied_in_linear_time(spread):
    v = np.arange(9.0) - 3
    expected = np.maximum.outer(spread, spread) @ v
    np.testing.assert_allclose(times_larger(spread)(v), expected, atol=1e-12)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 30), st.floats(0.05, 0.99))
def test_path_energies_are_those_of_the_inverse_for_any_graph(seed, n, decay):
    """Sparse graphs too: nodes without neighbours, parts that do not hang together."""
    rng = np.random.default_rng(seed)
    A = rng.random((n, n)) * (rng.random((n, n)) < rng.choice([0.05, 0.3, 1.0]))
    A = A + A.T
    v = rng.uniform(0.1, 2, n)
    rho = max(abs(np.linalg.eigvalsh(A)))
    found = path_energies(lambda x: A @ x, v, decay=decay)
    r = decay / rho if rho > 0 else 0.0
    np.testing.assert_allclose(found.energies, np.linalg.solve(np.eye(n) - r * A, v), rtol=1e-8)
    assert found.spectral_radius == pytest.approx(rho, rel=1e-9, abs=1e-12)
    assert found.n_products <= n
