import warnings

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array, issparse
from sklearn.neighbors import KNeighborsRegressor

from metafs.errors import ProblemError, UsageError
from metafs_metafeatures.generators.patches import PatchPrototypes, pink_images
from metafs_metafeatures.mf_pfs import lazy_columns
from metafs_metafeatures.mf_pfs.lazy_columns import DuckDBMeasurer, ParquetMeasurer, as_measurer
from metafs_metafeatures.mf_pfs.measurers import (
    CallableMeasurer,
    GeneratorMeasurer,
    TableMeasurer,
)
from metafs_metafeatures.mf_pfs.selector import MFPFS

NAMES = tuple(f"c{j}" for j in range(30))


def table(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, len(NAMES)))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    return X, y


@pytest.fixture
def parquet(tmp_path):
    X, y = table()
    path = tmp_path / "wide [1].parquet"
    pl.DataFrame(dict(zip(NAMES, X.T, strict=True)) | {"label": y}).write_parquet(path)
    return path


@pytest.fixture
def database(tmp_path):
    X, y = table()
    path = tmp_path / "wide.duckdb"
    frame = pd.DataFrame(X, columns=NAMES).assign(label=y)
    with duckdb.connect(path) as connection:
        connection.register("frame", frame)
        connection.execute('create table "my table" as select * from frame')
        connection.execute("create table other as select 1 as one")
    return path


class Spy:
    """A function from number to column that remembers what it was asked for."""

    def __init__(self, X, broken=()):
        self.X, self.broken, self.asked = X, set(broken), []

    def __call__(self, j):
        self.asked.append(j)
        if j in self.broken:
            raise RuntimeError(f"the sensor of {j} is dead")
        return self.X[:, j]


def test_each_feature_is_measured_once_and_no_other_is_touched():
    X, _ = table()
    spy = Spy(X)
    measurer = CallableMeasurer(spy, n_features=30)
    features, columns = measurer.measure([4, 2, 4])
    np.testing.assert_array_equal(features, [4, 2, 4])
    np.testing.assert_array_equal(columns, X[:, [4, 2, 4]])
    measurer.measure(np.array([2, 7]))
    assert spy.asked == [4, 2, 7]
    assert measurer.n_measured == 3
    assert np.flatnonzero(measurer.measured).tolist() == [2, 4, 7]
    assert measurer.feature_names[7] == "x7" and measurer.n_features == 30
    assert measurer.seconds > 0 and measurer.n_samples == 40


def test_a_feature_that_fails_is_named_and_the_rest_goes_on():
    X, _ = table()
    spy = Spy(X, broken=[3])
    measurer = CallableMeasurer(spy, feature_names=NAMES)
    features, columns = measurer.measure([2, 3, 5])
    np.testing.assert_array_equal(features, [2, 5])
    np.testing.assert_array_equal(columns, X[:, [2, 5]])
    assert measurer.failed == {"c3": "the sensor of 3 is dead"}
    assert measurer.measure([3])[0].tolist() == []
    assert spy.asked == [2, 3, 5], "what failed is not tried again"
    assert measurer.n_measured == 3 and measurer.measured[3]


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        (np.zeros(39), "it has 39 values for 40 samples"),
        (np.full(40, np.nan), "it has missing or infinite values"),
        (np.zeros((40, 2)), r"its values have shape (40, 2) instead of one a sample"),
        (["a"] * 40, "could not convert string to float: 'a'"),
    ],
)
def test_what_is_no_column_counts_as_failed(column, reason):
    measurer = CallableMeasurer(lambda j: column if j == 1 else np.ones(40), n_features=3)
    features, columns = measurer.measure([0, 1, 2])
    assert features.tolist() == [0, 2] and columns.shape == (40, 2)
    assert measurer.failed == {"x1": reason}


@pytest.mark.parametrize("kind", [np.asarray, csr_array, pd.DataFrame, pl.DataFrame])
def test_a_table_gives_its_columns_and_counts_them(kind):
    X, _ = table()
    X[X < 0] = 0
    measurer = TableMeasurer(kind(X))
    _, columns = measurer.measure([3, 1])
    assert issparse(columns) == (kind is csr_array)
    np.testing.assert_array_equal(columns.toarray() if issparse(columns) else columns, X[:, [3, 1]])
    assert measurer.n_measured == 2 and measurer.n_samples == 40


def test_a_frame_brings_its_names():
    X, _ = table()
    measurer = TableMeasurer(pd.DataFrame(X, columns=NAMES))
    assert measurer.feature_names == NAMES
    with_gap = pd.DataFrame({"whole": [1.0, 2.0], "gap": [1.0, np.nan]})
    measurer = TableMeasurer(with_gap)
    assert measurer.measure([0, 1])[0].tolist() == [0]
    assert measurer.failed == {"gap": "it has missing or infinite values"}


def test_parquet_columns_are_read_when_asked_for(parquet, monkeypatch):
    X, y = table()
    asked = []
    read = lazy_columns.read_columns

    def remember(path, where, names, positions):
        asked.extend(positions)
        return read(path, where, names, positions)

    monkeypatch.setattr(lazy_columns, "read_columns", remember)
    measurer = ParquetMeasurer(parquet, drop=["label"])
    assert measurer.feature_names == NAMES and asked == []
    _, columns = measurer.measure([5, 0])
    np.testing.assert_array_equal(columns, X[:, [5, 0]])
    measurer.measure([0, 9])
    assert asked == [5, 0, 9]
    np.testing.assert_array_equal(measurer.read("label"), y)
    assert measurer.n_measured == 3


def test_only_the_bytes_of_the_columns_asked_for_are_read(tmp_path):
    """The others are overwritten in the file: what is asked for still comes out."""
    X, _ = table()
    path = tmp_path / "wide.parquet"
    frame = pd.DataFrame(X, columns=NAMES)
    frame.to_parquet(path, compression=None, use_dictionary=False)
    content = path.read_bytes()
    for j in set(range(30)) - {4, 6}:
        assert X[:, j].tobytes() in content
        content = content.replace(X[:, j].tobytes(), bytes(320))
    path.write_bytes(content)
    measurer = ParquetMeasurer(path)
    np.testing.assert_array_equal(measurer.measure([4, 6])[1], X[:, [4, 6]])
    assert not measurer.measure([0])[1].any()


def test_duckdb_columns_are_read_when_asked_for(database, monkeypatch):
    X, y = table()
    asked = []
    fetch = lazy_columns.fetch

    def remember(connection, expressions, relation):
        asked.extend(expressions)
        return fetch(connection, expressions, relation)

    monkeypatch.setattr(lazy_columns, "fetch", remember)
    measurer = DuckDBMeasurer(database, "my table", drop=["label"])
    assert measurer.feature_names == NAMES and asked == []
    np.testing.assert_array_equal(measurer.measure([5, 0])[1], X[:, [5, 0]])
    measurer.measure([0, 9])
    assert asked == ['"c5"', '"c0"', '"c9"']
    np.testing.assert_array_equal(measurer.read("label"), y)
    with duckdb.connect(database) as other:  # nothing is held open
        other.execute("insert into other values (2)")


def test_a_column_of_lists_fails_and_the_others_do_not(tmp_path):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"a": [1, 2], "nested": [[1], [2]], "text": ["x", "y"]}).write_parquet(path)
    measurer = ParquetMeasurer(path)
    features, columns = measurer.measure([0, 1, 2])
    assert features.tolist() == [0, 2]
    assert columns.tolist() == [[1.0, 0.0], [2.0, 1.0]]
    assert "nested" in measurer.failed["nested"]
    with duckdb.connect(tmp_path / "t.duckdb") as connection:
        connection.execute("create table t as select 1.5 as a, [1, 2] as nested, 'x' as text")
    measurer = DuckDBMeasurer(tmp_path / "t.duckdb", "t")
    assert measurer.measure([0, 1, 2])[0].tolist() == [0, 2]
    assert list(measurer.failed) == ["nested"]


def test_names_in_quotes_and_of_odd_case_are_found(tmp_path):
    with duckdb.connect(tmp_path / "odd.duckdb") as connection:
        connection.execute('create table "t""t" ("a ""quoted"" b" integer, "Größe" double)')
        connection.execute('insert into "t""t" values (1, 2.5), (3, null)')
    measurer = DuckDBMeasurer(tmp_path / "odd.duckdb", 't"t')
    assert measurer.feature_names == ('a "quoted" b', "Größe")
    assert measurer.measure([0, 1])[1].tolist() == [[1.0], [3.0]]
    assert measurer.failed == {"Größe": "it has missing or infinite values"}


def test_bad_paths_tables_and_columns_are_sentences(tmp_path, parquet, database):
    missing = tmp_path / "none.parquet"
    with pytest.raises(ProblemError, match=r"none\.parquet: (there is no file|cannot be read)"):
        ParquetMeasurer(missing)
    with pytest.raises(ProblemError, match=r"none\.parquet: (there is no file|cannot be read)"):
        DuckDBMeasurer(missing, "t")
    broken = tmp_path / "broken.parquet"
    broken.write_text("no parquet at all")
    with pytest.raises(ProblemError, match="is not a whole parquet file"):
        ParquetMeasurer(broken)
    with pytest.raises(ProblemError, match="cannot be read"):
        DuckDBMeasurer(broken, "t")
    with pytest.raises(ProblemError, match=r"no column 'lable' .*; did you mean 'label'"):
        ParquetMeasurer(parquet, drop="lable")
    with pytest.raises(ProblemError, match="no column 'c99'"):
        DuckDBMeasurer(database, "my table", columns=["c1", "c99"])
    with pytest.raises(ProblemError, match="no table 'mine'; it has 'my table', 'other'"):
        DuckDBMeasurer(database, "mine")
    with pytest.raises(ProblemError, match="no column 'nothing'"):
        DuckDBMeasurer(database, "my table").read("nothing")
    with pytest.raises(ProblemError, match="no column 'nothing'"):
        ParquetMeasurer(parquet).read("nothing")


def test_drawn_features_are_measured_when_asked_for(monkeypatch):
    generator = PatchPrototypes(n_bands=1)
    drawn = generator.draw(12, np.random.default_rng(0))
    images = pink_images(6, 32, seed=1)
    asked = []
    measure_all = PatchPrototypes.measure_all

    def remember(self, features, prepared):
        asked.extend(features)
        return measure_all(self, features, prepared)

    monkeypatch.setattr(PatchPrototypes, "measure_all", remember)
    measurer = GeneratorMeasurer(generator, drawn, images)
    _, columns = measurer.measure([7, 3])
    assert asked == [drawn[7], drawn[3]]
    expected = np.column_stack([generator.measure(drawn[j], images) for j in (7, 3)])
    np.testing.assert_allclose(columns, expected, rtol=1e-9)
    ready = GeneratorMeasurer(generator, drawn, generator.prepare(images))
    np.testing.assert_allclose(ready.measure([7, 3])[1], expected, rtol=1e-9)


def test_one_bad_drawn_feature_does_not_spoil_the_batch():
    class Generator:
        def measure(self, f, images):
            return images[:, 0] / f

        def measure_all(self, features, images):
            if 0 in features:
                raise ZeroDivisionError("feature 0")
            return np.column_stack([self.measure(f, images) for f in features])

    measurer = GeneratorMeasurer(Generator(), [2.0, 0, 4.0], np.ones((5, 1)))
    features, columns = measurer.measure([0, 1, 2])
    assert features.tolist() == [0, 2] and columns[0].tolist() == [0.5, 0.25]
    assert measurer.failed == {"x1": "feature 0"}


def test_whatever_is_given_becomes_a_measurer(parquet):
    X, _ = table()
    assert as_measurer(str(parquet), NAMES).feature_names == NAMES
    assert as_measurer(parquet).feature_names == (*NAMES, "label")
    assert isinstance(as_measurer(X), TableMeasurer)
    assert as_measurer(X, NAMES).feature_names == NAMES
    assert as_measurer(Spy(X), NAMES).feature_names == NAMES
    mine = TableMeasurer(X)
    assert as_measurer(mine) is mine
    with pytest.raises(UsageError, match="the measurer has names of its own"):
        as_measurer(mine, NAMES)
    named = TableMeasurer(X, NAMES)
    assert as_measurer(named, NAMES) is named


def test_wrong_requests_are_sentences():
    X, _ = table()
    with pytest.raises(UsageError, match="give n_features or feature_names"):
        CallableMeasurer(Spy(X))
    with pytest.raises(UsageError, match="give a function from a number to a column"):
        CallableMeasurer(3, n_features=3)
    with pytest.raises(ProblemError, match="2 feature names for 3 columns"):
        CallableMeasurer(Spy(X), 3, ["a", "b"])
    with pytest.raises(ProblemError, match="'a' occurs 2 times"):
        CallableMeasurer(Spy(X), feature_names=["a", "a"])
    with pytest.raises(ProblemError, match="no features to measure"):
        CallableMeasurer(Spy(X), feature_names=[])
    with pytest.raises(UsageError, match="features names a column that is not there"):
        TableMeasurer(X).measure([30])


@pytest.mark.parametrize("kind", ["table", "callable", "parquet", "duckdb"])
def test_wherever_features_are_the_selection_is_the_same(kind, parquet, database):
    X, y = table()
    meta_features = np.arange(30.0)
    expected = MFPFS(4, random_state=1, regressor=KNeighborsRegressor(2)).fit(
        X, y, meta_features=meta_features
    )
    measurer = {
        "table": lambda: TableMeasurer(X, NAMES),
        "callable": lambda: CallableMeasurer(Spy(X), feature_names=NAMES),
        "parquet": lambda: ParquetMeasurer(parquet, drop=["label"]),
        "duckdb": lambda: DuckDBMeasurer(database, "my table", drop="label"),
    }[kind]()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = MFPFS(4, random_state=1, regressor=KNeighborsRegressor(2)).fit_measured(
            measurer, y, meta_features
        )
    np.testing.assert_array_equal(found.scores_, expected.scores_)
    assert found.n_measured_ == expected.n_measured_ == measurer.n_measured < 30
    names = [name for name, kept in zip(NAMES, expected.get_support(), strict=True) if kept]
    assert found.get_feature_names_out().tolist() == names
