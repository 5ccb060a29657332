import numpy as np
import pytest
from sklearn.linear_model import BayesianRidge, LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from metafs.errors import UsageError
from metafs.stats.regression import fitted, knows_how_sure, predicted_with_std, takes_weights
from metafs.testing.regressors import check_standard_deviations
from metafs_regressors import Forest, GaussianProcess, UpToKNeighbors, WeightedKNN
from metafs_regressors import metafs_regressors as offered

from .problems import planted

NAMES = sorted(offered())


KNOWING = [name for name in NAMES if name != "knn"]


def forest_exemptions(estimator):
    if isinstance(estimator, Forest):
        reason = "trees draw rows, so a row of weight two is not a row that is there twice"
        return {"check_sample_weight_equivalence_on_dense_data": reason}
    return {}


@parametrize_with_checks(
    [
        WeightedKNN(n_steps=20, random_state=0),
        GaussianProcess(max_tuning_rows=60, random_state=0),
        Forest(10, random_state=0),
        UpToKNeighbors(),
    ],
    expected_failed_checks=forest_exemptions,
)
def test_scikit_learn_accepts(estimator, check):
    check(estimator)


def test_what_is_offered():
    assert NAMES == ["forest", "gp", "knn", "ridge", "weighted-knn"]
    assert [name for name in NAMES if knows_how_sure(offered()[name])] == KNOWING
    assert [name for name in NAMES if takes_weights(offered()[name])] == ["forest", "ridge"]


@pytest.mark.parametrize("name", NAMES)
def test_units_do_not_matter(name):
    """Columns of other units, and a target of another unit, change nothing but the unit."""
    X, y = planted(120)
    scaled = X * [1e3, 1e-3, 8.0, 1.0] + [5.0, 0.0, 0.0, 2.0]
    one = offered()[name].fit(X[:80], y[:80]).predict(X[80:])
    other = offered()[name].fit(scaled[:80], 1000 * y[:80] + 7).predict(scaled[80:])
    # A split of a tree may lie between the same rows at another value.
    np.testing.assert_allclose((other - 7) / 1000, one, atol=0.05 if name == "forest" else 1e-3)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "forest"])
def test_the_order_of_the_columns_does_not_matter(name):
    X, y = planted(120)
    order = [2, 0, 3, 1]
    one = offered()[name].fit(X, y).predict(X)
    two = offered()[name].fit(X[:, order], y).predict(X[:, order])
    np.testing.assert_allclose(one, two, atol=1e-3)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("m", [1, 2, 3, 7])
def test_few_rows_and_constant_columns_are_enough(name, m):
    X, y = planted(m)
    X[:, 1] = 3.0
    map = offered()[name].fit(X, y)
    assert np.isfinite(map.predict(X)).all()
    if name in KNOWING:
        assert np.isfinite(map.predict(X, return_std=True)[1]).all()


@pytest.mark.parametrize("name", NAMES)
def test_a_constant_target_is_predicted(name):
    X, _ = planted(30)
    np.testing.assert_allclose(offered()[name].fit(X, np.full(30, 5.0)).predict(X + 1), 5.0)


@pytest.mark.parametrize("name", NAMES)
def test_a_column_that_is_constant_changes_little(name):
    X, y = planted(150)
    with_constant = np.column_stack([X, np.full(150, 3.0)])
    one = offered()[name].fit(X[:100], y[:100]).predict(X[100:])
    two = offered()[name].fit(with_constant[:100], y[:100]).predict(with_constant[100:])
    assert np.corrcoef(one, two)[0, 1] > (0.97 if name == "forest" else 0.9999)


def test_heavier_rows_count_more():
    X = np.zeros((40, 1))
    y = np.r_[np.zeros(20), np.ones(20)]
    for name in ("forest", "ridge"):
        map = fitted(offered()[name], X, y, np.r_[np.ones(20), np.full(20, 3.0)])
        assert 0.65 < map.predict([[0.0]])[0] < 0.85


@pytest.mark.parametrize("noise", [0.3, 1.5])
@pytest.mark.parametrize("name", [name for name in KNOWING if name != "ridge"])
def test_standard_deviations_are_about_right(name, noise):
    X, y = planted(800, noise=noise)
    prediction, std = offered()[name].fit(X[:400], y[:400]).predict(X[400:], return_std=True)
    assert 0.75 < np.sqrt(np.mean(((y[400:] - prediction) / std) ** 2)) < 1.25


def test_a_pipeline_answers_for_its_last_step():
    inner = make_pipeline(StandardScaler(), BayesianRidge())
    outer = make_pipeline(StandardScaler(), inner)
    assert knows_how_sure(outer) and takes_weights(outer)
    assert not knows_how_sure(make_pipeline(StandardScaler(), LinearRegression()))
    X, y = planted(60)
    weight = np.r_[np.ones(30), np.zeros(30)]
    found = fitted(outer, X, y, weight)
    scaled = StandardScaler().fit(X)
    expected = BayesianRidge().fit(scaled.transform(X), y, sample_weight=weight)
    np.testing.assert_allclose(found.predict(X), expected.predict(scaled.transform(X)))
    assert not hasattr(outer, "n_features_in_")


def test_missing_abilities_of_a_regressor_are_reported():
    X, y = planted(20)
    with pytest.raises(UsageError, match="KNeighborsRegressor cannot weight features"):
        fitted(make_pipeline(StandardScaler(), KNeighborsRegressor()), X, y, np.ones(20))
    with pytest.raises(UsageError, match="KNeighborsRegressor gives no standard deviations"):
        predicted_with_std(KNeighborsRegressor().fit(X, y), X)


class Boasting(BayesianRidge):
    def predict(self, X, return_std=False):
        prediction = super().predict(X)
        return (prediction + 1, np.ones(len(X))) if return_std else prediction


class Unsure(BayesianRidge):
    def predict(self, X, return_std=False):
        prediction = super().predict(X)
        return (prediction, np.full(len(X), np.nan)) if return_std else prediction


@pytest.mark.parametrize("broken", [Boasting(), Unsure()])
def test_the_law_of_standard_deviations_catches(broken):
    check_standard_deviations(BayesianRidge())
    with pytest.raises(AssertionError):
        check_standard_deviations(broken)
