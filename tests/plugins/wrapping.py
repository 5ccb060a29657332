"""What the tests of the wrapper share: tables to score, and scikit-learn's own scores of them."""

import numpy as np
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

# Centred, because scikit-learn's solvers lose their way far from the origin; a free intercept
# makes the optimum the same.
TIGHT = make_pipeline(StandardScaler(), LogisticRegression(solver="newton-cholesky", tol=1e-12))


def words(n=60, n_features=12, seed=0, noise=0.1):
    """Words in documents, and classes of which the first three words tell."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, n_features)) < 0.3).astype(float)
    y = (X[:, :3].sum(axis=1) > 0).astype(int)
    y[rng.random(n) < noise] ^= 1
    return X, y


def plain_cv(evaluator, features, learner, scoring="accuracy"):
    """Scikit-learn's own cross-validation over the same folds."""
    tables = evaluator.scores.tables
    X = tables.problem.X[:, np.sort(features)]
    X = X.toarray() if hasattr(X, "toarray") else X
    return cross_val_score(learner, X, tables.problem.y, cv=tables.folds, scoring=scoring)


tables = st.tuples(
    st.integers(0, 10_000),
    st.integers(12, 60),
    st.integers(2, 7),
    st.sampled_from(["words", "counts", "numbers", "large"]),
    st.floats(0, 0.5),
)


def made(seed, n, n_features, kind, flip):
    """Columns of one kind, of which the first tells the class but for labels that are flipped."""
    rng = np.random.default_rng(seed)
    X = {
        "words": lambda: (rng.random((n, n_features)) < 0.3).astype(float),
        "counts": lambda: rng.poisson(1.0, (n, n_features)).astype(float),
        "numbers": lambda: rng.normal(size=(n, n_features)),
        "large": lambda: 1e4 + 10.0 ** np.arange(n_features) * rng.normal(size=(n, n_features)),
    }[kind]()
    y = (X[:, 0] > np.median(X[:, 0])).astype(int)
    y[rng.random(n) < flip] ^= 1
    y[:4] = 0, 0, 1, 1
    return X, y


def missing_and_categories(seed=0):
    """Numbers and categories, both with gaps; the first number and the first category tell."""
    rng = np.random.default_rng(seed)
    X = np.c_[rng.normal(size=(80, 3)), rng.integers(0, 4, (80, 2))]
    y = ((X[:, 0] > 0) ^ (X[:, 3] == 2)).astype(int)
    X[rng.random(80) < 0.3, 0] = np.nan
    X[rng.random(80) < 0.1, 4] = np.nan
    return X, y, {3: tuple("abcd"), 4: tuple("abcd")}
