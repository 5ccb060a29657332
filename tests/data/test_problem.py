import time
from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import coo_array, csr_array, csr_matrix, random_array

from metafs.data.problem import Problem
from metafs.errors import ProblemError, UsageError

X = np.array([[0.0, 1.5, 2.0], [1.0, 0.0, np.nan], [0.0, 0.0, -3.0], [2.0, 1.0, 0.0]])
Y = np.array([0, 1, 1, 0])

cells = st.sampled_from([0.0, 1.0, -2.5, 1e300, np.nan])
matrices = arrays(np.float64, st.tuples(st.integers(2, 6), st.integers(1, 5)), elements=cells)


def plain(matrix, **options):
    """A problem whose only interest is its matrix."""
    y = np.arange(len(matrix)) % 2
    names = [f"f{j}" for j in range(matrix.shape[1])]
    matrix = np.where(np.isnan(matrix).all(axis=0), 0.0, matrix)
    return Problem.of(matrix, y, feature_names=names, **options)


def test_a_bare_array_has_generated_names_and_no_space():
    problem = Problem.of(X, Y)
    assert problem.feature_names == ("x0", "x1", "x2")
    assert problem.space is None
    assert (problem.n_samples, problem.n_features) == (4, 3)
    assert Problem.of(X, Y, space="mine").space == "mine"
    assert Problem.of(X, Y, feature_names=["a", "b", "c"]).space == "default"


def test_a_problem_is_frozen():
    with pytest.raises(FrozenInstanceError):
        Problem.of(X, Y).name = "other"


def test_what_the_caller_owns_is_left_as_it_was():
    duplicated = csr_array((np.ones(3), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    before = duplicated.data.copy()
    problem = Problem.of(duplicated, [0, 1])
    assert problem.X.nnz == 2
    assert (duplicated.data == before).all()
    assert problem.fingerprint == Problem.of([[0, 2], [1, 0]], [0, 1]).fingerprint


@pytest.mark.parametrize(
    ("y", "classes", "codes"),
    [
        (["b", "a", "b"], ("a", "b"), [1, 0, 1]),
        ([True, False, True], ("0", "1"), [1, 0, 1]),
        (["True", "false", "true"], ("0", "1"), [1, 0, 1]),
        ([3.0, 8.0, 3.0], ("3", "8"), [0, 1, 0]),
        (["10", "9", "9"], ("9", "10"), [1, 0, 0]),
        ([0.5, -0.0, 0.5], ("0", "0.5"), [1, 0, 1]),
        ([2, 1, 3, 1, 2, 3], ("1", "2", "3"), [1, 0, 2, 0, 1, 2]),
        (np.array([b"u", b"v", b"u"]), ("u", "v"), [0, 1, 0]),
    ],
)
def test_targets_that_are_classes(y, classes, codes):
    problem = Problem.of(np.eye(len(y)), y)
    assert problem.is_classification
    assert problem.classes == classes
    assert problem.y.tolist() == codes
    assert problem.y.dtype == np.int64


@pytest.mark.parametrize("y", [[1, 2, 3], [0.5, 1.5, 2.5, 0.5], np.arange(100) % 51, ["1.5", 2, 3]])
def test_targets_that_are_numbers(y):
    problem = Problem.of(np.eye(len(y)), y)
    assert problem.classes is None
    assert problem.y.tolist() == [float(value) for value in y]


def test_the_task_can_be_decided():
    assert Problem.of(np.eye(3), [1, 2, 3], task="classes").classes == ("1", "2", "3")
    assert Problem.of(np.eye(4), [0, 1, 0, 1], task="numbers").classes is None
    with pytest.raises(ProblemError, match=r"'y' is text, .* numbers"):
        Problem.of(np.eye(2), ["a", "b"], task="numbers")
    with pytest.raises(UsageError, match="'ranks' is unknown"):
        Problem.of(np.eye(2), ["a", "b"], task="ranks")


def test_a_slip_in_a_numeric_target_is_told_but_mixed_labels_are_labels():
    y = [f"{value}.5" for value in range(20)] + ["oops"]
    with pytest.raises(ProblemError, match="'y' holds text in row 21"):
        Problem.of(np.eye(21), y)
    assert Problem.of(np.eye(8), ["1", "2", "3", "3b"] * 2).classes == ("1", "2", "3", "3b")


def test_rows_without_a_target_are_left_out():
    frame = pd.DataFrame({"a": ["u", "v", "w", "v"], "b": [1, 2, 3, 4]})
    problem = Problem.of(frame, [0, 1, None, 0])
    assert problem.n_samples == 3
    assert problem.categories == {0: ("u", "v")}
    alone = Problem.of(frame.drop(index=2), [0, 1, 0])
    assert problem.fingerprint == alone.fingerprint


def test_frames_and_arrays_of_one_content_agree():
    columns = {
        "a": [1.0, None, 3.0, 0.0],
        "b": [True, False, None, True],
        "c": ["u", "v", None, "u"],
    }
    y = ["k", "l", "k", "l"]
    frame = pd.DataFrame(columns | {"y": y})
    objects = np.array(list(columns.values()), dtype=object).T
    problems = [
        Problem.of(frame, "y"),
        Problem.of(frame.convert_dtypes(), "y"),
        Problem.of(frame.astype({"c": "category"}), "y"),
        Problem.of(frame[["c", "y", "a", "b"]], "y"),
        Problem.of(pl.DataFrame(columns | {"y": y}), "y"),
        Problem.of(
            pl.DataFrame(columns).with_columns(pl.col("c").cast(pl.Categorical)), pl.Series(y)
        ),
        Problem.of(frame.drop(columns="y"), frame["y"]),
        Problem.of(pa.table(columns | {"y": y}), "y"),
        Problem.of(objects, y, feature_names=list(columns)),
        Problem.of(objects.tolist(), y, feature_names=list(columns)),
    ]
    assert len({problem.fingerprint for problem in problems}) == 1


def test_columns_of_a_frame_may_be_numbered():
    frame = pd.DataFrame([[1, 2, 0], [3, 4, 1]])
    assert Problem.of(frame, "2").feature_names == ("0", "1")


def test_text_that_only_resembles_numbers_is_a_category():
    for texts in (["1.2.3", "1.2.4"], ["01.02.2020", "02.02.2020"], ["10-20", "20-30"]):
        assert Problem.of(pd.DataFrame({"a": texts}), [0, 1]).categories == {0: tuple(texts)}


def test_dates_are_seconds_whatever_holds_them():
    days = ["2020-01-01", "2020-01-02", None]
    stamps = pd.to_datetime(pd.Series(days))
    frames = [
        pd.DataFrame({"d": days}),
        pd.DataFrame({"d": stamps}),
        pd.DataFrame({"d": stamps.dt.tz_localize("UTC")}),
        pl.DataFrame({"d": days}).select(pl.col("d").str.to_date()),
        pl.DataFrame({"d": days}).select(pl.col("d").str.to_datetime()),
    ]
    for frame in frames:
        seconds = Problem.of(frame, [0, 1, 0]).X[:, 0]
        np.testing.assert_array_equal(seconds, [1577836800.0, 1577923200.0, np.nan])


@given(matrices)
def test_dense_and_sparse_share_a_fingerprint(matrix):
    dense = plain(matrix)
    for storage in (csr_array, csr_matrix, coo_array):
        sparse = Problem.of(storage(dense.X), dense.y, feature_names=dense.feature_names)
        assert sparse.fingerprint == dense.fingerprint
        assert isinstance(sparse.X, csr_array)
    fortran = Problem.of(np.asfortranarray(dense.X), dense.y, feature_names=dense.feature_names)
    assert fortran.fingerprint == dense.fingerprint


@given(matrices, st.randoms())
def test_the_order_of_columns_does_not_matter(matrix, random):
    problem = plain(matrix)
    order = list(range(problem.n_features))
    random.shuffle(order)
    assert problem.columns(order).fingerprint == problem.fingerprint


@given(matrices, st.data())
def test_every_cell_matters(matrix, data):
    problem = plain(matrix)
    row = data.draw(st.integers(0, problem.n_samples - 1))
    column = data.draw(st.integers(0, problem.n_features - 1))
    changed = problem.X.copy()
    changed[row, column] = 7.0
    assert plain(changed).fingerprint != problem.fingerprint


def test_what_a_fingerprint_covers():
    base = Problem.of(X, Y, feature_names=["a", "b", "c"])
    same = [
        Problem.of(X, Y, feature_names=["a", "b", "c"], name="other", source="file", target="t"),
        Problem.of(X, Y, feature_names=["a", "b", "c"], meta_features=[1, 2, 3]),
        Problem.of(np.where(X == 0, -0.0, X), Y, feature_names=["a", "b", "c"]),
    ]
    assert {problem.fingerprint for problem in same} == {base.fingerprint}
    different = [
        Problem.of(X, Y, feature_names=["a", "b", "d"]),
        Problem.of(X, Y, feature_names=["b", "a", "c"]),
        Problem.of(X, 1 - Y, feature_names=["a", "b", "c"]),
        Problem.of(X, Y, feature_names=["a", "b", "c"], task="numbers"),
        Problem.of(X, Y, feature_names=["a", "b", "c"], space="other"),
        Problem.of(X[::-1], Y, feature_names=["a", "b", "c"]),
    ]
    assert len({problem.fingerprint for problem in [base, *different]}) == 7


def test_a_category_is_not_its_code():
    text = Problem.of(pd.DataFrame({"a": ["u", "v", "u"]}), [0, 1, 0])
    other = Problem.of(pd.DataFrame({"a": ["u", "w", "u"]}), [0, 1, 0])
    codes = Problem.of(pd.DataFrame({"a": [0, 1, 0]}), [0, 1, 0])
    assert len({text.fingerprint, other.fingerprint, codes.fingerprint}) == 3


def test_a_large_sparse_problem_is_fingerprinted_quickly_and_stays_sparse():
    rng = np.random.default_rng(0)
    big = random_array((20_000, 20_000), density=0.0005, format="csr", random_state=rng)
    started = time.perf_counter()
    problem = Problem.of(big, rng.integers(0, 2, 20_000))
    assert len(problem.fingerprint) == 32
    assert time.perf_counter() - started < 2
    assert isinstance(problem.X, csr_array)


def test_chosen_columns_keep_what_belongs_to_them():
    frame = pd.DataFrame({"a": [1, 2, 3], "b": ["u", "v", "u"], "c": [3, 2, 1]})
    problem = Problem.of(frame, [0, 1, 0], meta_features=[[1, 2], [3, 4], [5, 6]])
    some = problem.columns(["b", 0])
    assert some.feature_names == ("b", "a")
    assert some.categories == {0: ("u", "v")}
    assert some.meta_features.tolist() == [[3, 4], [1, 2]]
    with pytest.raises(ProblemError, match="no column 'z'"):
        problem.columns(["z"])


INFINITE = np.array([[1, 2], [3, -np.inf], [5, 6]])
EMPTY = np.array([[1, np.nan], [2, np.nan], [3, np.nan]])


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        (np.empty((0, 2)), [], "has 0 rows"),
        (np.ones((1, 2)), [1], "has 1 row;"),
        (np.empty((3, 0)), [0, 1, 0], "no feature columns"),
        (np.ones((3, 2)), [0, 1], "X has 3 rows but the target has 2"),
        (np.ones((3, 2)), ["a"] * 3, "'y' is constant, with only one class"),
        (np.ones((3, 2)), [2.5] * 3, "'y' is constant, "),
        (np.ones((3, 2)), [None] * 3, "'y' has no values at all"),
        (np.ones((3, 2)), [None, None, 1], "only 1 row has a value of the target 'y'"),
        (np.ones((3, 2)), [0.5, np.inf, 1.5], "'y' is infinite in row 2"),
        (np.ones((3, 2)), [0.5, -2e200, 1.5], "'y' holds numbers beyond 1e\\+150, whose squares"),
        (np.ones((3, 2)), np.ones((3, 2)), "target has 2 dimensions"),
        (EMPTY[:, 1:], [0, 1, 0], "no feature column has two different values"),
        (np.ones(3), [0, 1, 0], "X has 1 dimension but"),
        ([[1, 2], [3]], [0, 1], "rows of X differ in length"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), [0, 1], "duplicate column name: 'a'"),
        (pd.DataFrame({"a": [[1], [2]]}), [0, 1], "'a' holds lists or other nested values"),
        (pd.DataFrame({"a": [1, 2]}), "b", "no column 'b'"),
        (pd.DataFrame({"a": ["1", "x", "3"]}), [0, 1, 0], "text in a numeric column: 'a' .* row 2"),
        (pd.DataFrame({"a": ["1,500", "2,500"]}), [0, 1], "text in a numeric column: 'a' .* row 1"),
    ],
)
def test_what_cannot_be_a_problem_is_told_in_a_sentence(X, y, words):
    with pytest.raises(ProblemError, match=words) as caught:
        Problem.of(X, y, name="churn")
    assert str(caught.value).startswith("churn: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_what_has_no_value_is_left_out_with_a_note(kind):
    problem = Problem.of(kind(INFINITE), [0, 1, 0], meta_features=[1, 2])
    assert np.isnan(problem.columns([1]).X.sum())
    assert problem.notes == ("took infinite values for missing in 'x1'",)
    assert np.isinf(INFINITE).any()  # what the caller owns is as it was
    problem = Problem.of(kind(EMPTY), [0, 1, 0], meta_features=[1, 2])
    assert (problem.feature_names, problem.meta_features.tolist()) == (("x0",), [[1]])
    assert problem.notes == ("left out 1 column without any value: 'x1'",)
    same = Problem.of(kind(EMPTY), [0, 1, 0], leave_out="nothing")
    assert (same.n_features, same.notes) == (2, ())


@pytest.mark.parametrize(
    ("texts", "numbers", "words"),
    [
        (["1,5", "2,25", "3"], [1.5, 2.25, 3], "read the commas in 'a' as decimal points"),
        (["1,5e2", "-0,5", "+3"], [150, -0.5, 3], "read the commas in 'a' as decimal points"),
        (["1", "n/a", "3"], [1, np.nan, 3], "took text such as n/a for missing in 'a'"),
        (["1", "#N/A", "-"], [1, np.nan, np.nan], "took text such as n/a for missing in 'a'"),
        (["1,5", "unknown", "3"], [1.5, np.nan, 3], "took text such as n/a"),
        (["1", "inf", "1e999"], [1, np.nan, np.nan], "took infinite values for missing in 'a'"),
    ],
)
def test_what_was_assumed_of_a_column_is_noted(texts, numbers, words):
    problem = Problem.of(pd.DataFrame({"a": texts, "b": [1, 2, 3]}), [0, 1, 0])
    np.testing.assert_array_equal(problem.X[:, 0], numbers)
    assert words in " ".join(problem.notes)
    assert problem.categories == {}


def test_the_same_texts_are_labels_among_labels():
    kinds = pd.DataFrame({"a": ["none", "mild", "n/a", "-"]})
    problem = Problem.of(kinds, [0, 1, 0, 1])
    assert problem.categories == {0: ("-", "mild", "none")}
    assert problem.notes == ("took text such as n/a for missing in 'a'",)


def test_a_target_with_decimal_commas_is_a_number():
    problem = Problem.of(pd.DataFrame({"a": [1, 2, 3], "y": ["1,5", "2,7", "3,1"]}), "y")
    assert problem.classes is None
    assert problem.y.tolist() == [1.5, 2.7, 3.1]
    assert problem.notes == ("read the commas in 'y' as decimal points",)


def test_names_and_meta_features_must_fit():
    with pytest.raises(ProblemError, match="2 feature names for 3 columns"):
        Problem.of(X, Y, feature_names=["a", "b"])
    with pytest.raises(ProblemError, match="'a' occurs 2 times"):
        Problem.of(X, Y, feature_names=["a", "b", "a"])
    with pytest.raises(ProblemError, match="shape \\(2, 1\\) for 3 features"):
        Problem.of(X, Y, meta_features=[1, 2])
    with pytest.raises(ProblemError, match="not all numbers"):
        Problem.of(X, Y, meta_features=["a", "b", "c"])
    with pytest.raises(ProblemError, match="infinite"):
        Problem.of(X, Y, meta_features=[1, np.inf, 2])
    with pytest.raises(ProblemError, match="feature 2 hold an infinite value, or one that is as"):
        Problem.of(X, Y, meta_features=[1, -1e300, 2])
    with pytest.raises(ProblemError, match="'p' occurs 2 times"):
        Problem.of(X, Y, meta_features=np.ones((3, 2)), meta_feature_names=["p", "p"])
    with pytest.raises(ProblemError, match="2 names for 1 meta-feature"):
        Problem.of(X, Y, meta_features=[1, 2, 3], meta_feature_names=["p", "q"])
    assert Problem.of(X, Y, meta_features=[1, 2, 3]).meta_feature_names == ("m0",)


@pytest.mark.parametrize(
    ("values", "classes"),
    [
        ([1, 2, 3] * 4, True),
        (list(range(40)) * 10, True),
        (list(range(40)) * 3, False),
        (list(range(60)) * 10, False),
        ([0.5, 1.5] * 3, True),
        ([0.5, 1.5, 2.0] * 30, False),
        ([1, 2, 3, 4], False),
    ],
)
def test_whole_numbers_are_classes_only_if_they_repeat(values, classes):
    problem = Problem.of(np.arange(float(len(values)))[:, None], values)
    assert problem.is_classification == classes


@pytest.mark.parametrize(
    ("y", "words"),
    [(None, "the target is 'None' instead of a sequence"), ("y", "the target 'y' is a name")],
)
def test_a_target_must_be_values(y, words):
    with pytest.raises(ProblemError, match=words):
        Problem.of(X, y)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1j, 2j], "complex"),
        (pd.period_range("2020", periods=2, freq="M"), "Period"),
        (pd.interval_range(0, 2), "Interval"),
    ],
)
def test_values_that_are_no_numbers_are_called_by_their_kind(values, kind):
    with pytest.raises(ProblemError, match=f"'a' holds values of the kind '{kind}'"):
        Problem.of(pd.DataFrame({"a": values, "b": [1, 2]}), [0, 1])


def test_lone_surrogates_are_replaced_wherever_a_problem_has_text():
    texts = {"name": "n\udce9", "source": "s\udce9", "feature_names": ["a\udce9"]}
    problem = Problem.of([["u\ud800"], ["v"]], ["p\ud800", "q"], **texts)
    assert (problem.name, problem.source, problem.feature_names) == ("n?", "s?", ("a?",))
    assert (problem.classes, problem.categories) == (("p?", "q"), {0: ("u?", "v")})
    assert problem.fingerprint
    with pytest.raises(ProblemError, match=r"'b\?' occurs 2 times"):
        Problem.of([[1, 2], [3, 4]], [0, 1], feature_names=["b\udce9", "b\udce8"])
