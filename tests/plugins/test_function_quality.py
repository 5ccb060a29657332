"""The measure function-quality: over sets with a learner, and over the programs of moses."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from metafs import Registry
from metafs.errors import UsageError
from metafs.stats.function_quality import FunctionQuality
from metafs_climb import Climb
from metafs_climb.function_quality import LEARNER, FunctionQualityMeasure, with_learner
from metafs_moses import MosesClassifier


def table(n=80, seed=0):
    rng = np.random.default_rng(seed)
    X = (rng.random((n, 6)) < 0.5).astype(float)
    return X, np.where((X[:, 0] > 0) & (X[:, 3] > 0), "spam", "ham")


def test_it_is_the_quality_over_what_the_climb_recorded():
    X, y = table()
    climb = Climb(max_evaluations=200, random_state=0).fit(X, y)
    sets = {features: fitness for _, features, fitness in climb.candidates_}
    functions = with_learner([(0, f, q) for f, q in sets.items()], X, y, LEARNER)
    assert [tuple(g.columns.tolist()) for g in functions] == list(sets)
    expected = FunctionQuality(2.0, 0.3).of_each(functions, X)
    found = FunctionQualityMeasure(p=2.0, simplicity=0.3, max_evaluations=200)(X, y)
    np.testing.assert_allclose(found, expected, atol=1e-9)
    assert set(np.argsort(-found)[:2]) == {0, 3}


def test_moses_gives_its_programs():
    X, y = table()
    measure = Registry().measures["function-quality"].with_learner(MosesClassifier())
    found = measure(X, y)
    assert set(np.argsort(-found)[:2]) == {0, 3}
    together, apart = (measure.of_set(X, y, features) for features in ([0, 3], [1, 2]))
    assert together > apart + 0.1
    other = measure.with_learner(LogisticRegression())(X, y)
    assert not np.allclose(other, found)


def test_one_class_tells_nothing_and_wrong_parameters_are_a_sentence():
    X, _ = table()
    assert FunctionQualityMeasure()(X, np.zeros(80)).tolist() == [0.0] * 6
    assert FunctionQualityMeasure().of_set(X, np.zeros(80), [0]) == 0.0
    for wrong in ({"p": -1.0}, {"max_evaluations": 0}):
        with pytest.raises(UsageError):
            FunctionQualityMeasure(**wrong)
