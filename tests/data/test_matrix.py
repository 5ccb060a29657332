import numpy as np
import pytest
from scipy.sparse import csr_array

from metafs.data.matrix import dense
from metafs.errors import MetafsError


def test_a_sparse_matrix_becomes_dense_and_a_dense_one_is_left_as_it_is():
    X = np.array([[0.0, 2.0], [1.0, 0.0]])
    assert dense(X, "relieff") is X
    np.testing.assert_array_equal(dense(csr_array(X), "relieff"), X)


def test_what_would_not_fit_is_a_sentence():
    with pytest.raises(MetafsError, match=r"simba needs all 100000 x 90000 values, 67\.1 GB: take"):
        dense(csr_array((100_000, 90_000)), "simba")
