import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.datasets import dump_svmlight_file

from metafs.data.problem import Problem
from metafs.data.readers import ReadOptions, sources
from metafs.errors import ProblemError

X = np.array([[0, 1.5, 2], [1, 0, 0], [0, 0, -3], [2, 1, 0.0]])
Y = np.array([0, 1, 1, 0])
CSR = csr_array(X)
PARTS = {
    "data": CSR.data,
    "indices": CSR.indices.astype(np.uint8),
    "indptr": CSR.indptr.astype(np.uint16),
    "shape": np.array(X.shape, dtype=np.uint8),
}


def read(path, **options):
    (source,) = sources([path], ReadOptions(**options))
    return source.read()


def saved(folder, **arrays):
    path = folder / "p.npz"
    np.savez(path, **arrays)
    return path


def test_dense_sparse_npz_and_svmlight_agree(tmp_path):
    expected = Problem.of(X, Y, space="s")
    svmlight = tmp_path / "a.svmlight"
    dump_svmlight_file(X, Y, str(svmlight), zero_based=True)
    one_based = tmp_path / "b.libsvm"
    dump_svmlight_file(X, Y, str(one_based), zero_based=False)
    problems = [
        Problem.of(csr_matrix(X), Y, space="s"),
        read(saved(tmp_path, X=X, y=Y), space="s"),
        read(saved(tmp_path, **PARTS, y=Y.astype(np.int8)), space="s"),
        read(saved(tmp_path, X=X, y=Y, feature_names=np.array(["x0", "x1", "x2"])), space="s"),
        read(svmlight, space="s"),
        read(one_based, space="s"),
    ]
    assert {problem.fingerprint for problem in problems} == {expected.fingerprint}
    assert isinstance(read(svmlight).X, csr_array)
    assert isinstance(read(saved(tmp_path, **PARTS, y=Y)).X, csr_array)


def test_only_named_columns_have_a_space_of_their_own(tmp_path):
    names = np.array(["a", "b", "c"])
    assert read(saved(tmp_path, X=X, y=Y)).space is None
    assert read(saved(tmp_path, X=X, y=Y, feature_names=names)).space == "default"
    assert read(saved(tmp_path, X=X, y=Y, feature_names=names), space="s").space == "s"


def test_npz_carries_meta_features_and_a_name_and_other_arrays_are_left_alone(tmp_path):
    path = saved(
        tmp_path,
        X=X.astype(np.int16),
        y=np.array(["p", "q", "q", "p"]),
        feature_names=np.array([b"a", b"b", b"c"]),
        meta_features=np.arange(6).reshape(3, 2),
        meta_feature_names=np.array(["row", "column"]),
        name=np.array("the name"),
        split=np.array([{"any": "object"}], dtype=object),
    )
    (source,) = sources([path], ReadOptions(drop=("b",), keep=("c",)))
    problem = source.read()
    assert source.name == problem.name == "the name"
    assert problem.feature_names == ("a", "c")
    assert problem.meta_features.tolist() == [[0, 1], [4, 5]]
    assert problem.meta_feature_names == ("row", "column")
    assert problem.classes == ("p", "q")


def test_small_integers_do_not_wrap(tmp_path):
    counts = np.array([[255, 1], [1, 200], [3, 4]], dtype=np.uint8)
    problem = read(saved(tmp_path, X=counts, y=[0, 1, 0]))
    assert problem.X.dtype == np.float64
    assert problem.X.sum() == 464


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"X": X}, "holds no target 'y'"),
        ({"y": Y}, "neither X nor the CSR parts"),
        ({"X": X, "y": Y[:2]}, "X has 4 rows but the target has 2"),
        ({"X": X[0], "y": Y}, "X has 1 dimension but"),
        ({"X": X, "y": np.array([0, 1, None, 1])}, "'y' holds Python objects"),
        ({"X": X, "y": Y, "feature_names": np.array(["a", "b"])}, "2 feature names for 3 columns"),
        (
            {"X": X, "y": Y, "feature_names": np.array(["a", "b", "a"])},
            "duplicate column name: 'a'",
        ),
        ({"X": X, "y": Y, "meta_features": np.ones((2, 2))}, "meta-features have shape"),
        (PARTS | {"indices": PARTS["indices"] + 7, "y": Y}, "CSR parts do not fit together"),
        (PARTS | {"shape": np.array([4]), "y": Y}, "CSR parts do not fit together"),
        (PARTS | {"data": np.array(["a"] * 6), "y": Y}, "CSR parts do not fit together"),
        ({"X": X.astype(complex), "y": Y}, "column 'x0'"),
    ],
)
def test_bad_npz_is_told_in_a_sentence(tmp_path, arrays, words):
    path = saved(tmp_path, **arrays)
    with pytest.raises(ProblemError, match=words) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert str(caught.value).count(str(path)) == 1
    assert "\n" not in str(caught.value)


def test_a_target_of_another_name_is_found_in_an_npz(tmp_path):
    path = saved(tmp_path, X=X, y=Y, total=np.array([0.5, 1.5, 2.5, 3.5]))
    problem = read(path, targets=("total",))
    assert problem.target == "total" and problem.y.tolist() == [0.5, 1.5, 2.5, 3.5]
    both = sources([path], ReadOptions(targets=("y", "total")))
    assert [source.read().name for source in both] == ["p:y", "p:total"]
    with pytest.raises(ProblemError, match="no target 'sum', only 'X', 'y', 'total'; add"):
        read(path, targets=("sum",))
    with pytest.raises(ProblemError, match="target has 2 dimensions"):
        read(path, targets=("X",))


def test_svmlight_has_one_target(tmp_path):
    path = tmp_path / "p.svm"
    path.write_text("1 1:2\n0 1:3\n")
    assert read(path, targets=("y",)).n_features == 1
    with pytest.raises(ProblemError, match="no target 'z'"):
        read(path, targets=("z",))


def test_too_many_columns_are_refused_before_they_are_named(tmp_path):
    path = tmp_path / "p.svmlight"
    path.write_text("1 2000000000:1\n0 1:1\n")
    with pytest.raises(ProblemError, match="at most 10,000,000"):
        read(path)
    wide = PARTS | {"shape": np.array([4, 2_000_000_000]), "y": Y}
    with pytest.raises(ProblemError, match="X has 2,000,000,000 columns"):
        read(saved(tmp_path, **wide))
    with pytest.raises(ProblemError, match="at most 10,000,000"):
        Problem.of(csr_array((2, 2_000_000_000)), [0, 1])


def test_a_file_that_is_no_npz(tmp_path):
    path = saved(tmp_path, X=X, y=Y)
    whole = path.read_bytes()
    for content, words in [
        (whole[: len(whole) // 2], "cannot be read"),
        (whole.replace(b"NUMPY", b"NUMPX"), "cannot be read"),
        (b"hello", "cannot be read"),
        (b"", "is empty"),
    ]:
        path.write_bytes(content)
        with pytest.raises(ProblemError, match=words):
            read(path)
    with path.open("wb") as file:
        np.save(file, X)
    with pytest.raises(ProblemError, match="not an npz file"):
        read(path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"yes 1:2 2:3\nno 1:3\n", "not svmlight"),
        (b"1 1:2 2:x\n0 1:3\n", "not svmlight"),
        (b"1 1:2\n1 1:3\n", "constant"),
        (b"1 1:2\n", "1 row"),
    ],
)
def test_bad_svmlight_is_told_in_a_sentence(tmp_path, content, words):
    path = tmp_path / "p.svm"
    path.write_bytes(content)
    with pytest.raises(ProblemError, match=words) as caught:
        read(path)
    assert str(path) in str(caught.value)
