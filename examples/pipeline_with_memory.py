"""A selector that remembers, inside an ordinary scikit-learn pipeline."""

import tempfile
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline

from metafs import MetaSelector


def customer_data(seed):
    """Return twenty columns of which two, the same for every customer, matter."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(200, 20)).astype(float)
    y = np.where(rng.random(200) < 0.98, X[:, 3] * X[:, 7], rng.integers(0, 2, 200))
    return X, y


with tempfile.TemporaryDirectory() as folder:
    for customer in range(4):
        selector = MetaSelector(
            db=Path(folder) / "churn.duckdb",
            name=f"customer {customer}",  # folds of one customer never recall each other
            space="churn",  # bare columns need a space in which their positions mean something
            random_state=0,
        )
        model = make_pipeline(selector, LogisticRegression())
        scores = cross_validate(model, *customer_data(customer), cv=3)["test_score"]
        fitted = selector.fit(*customer_data(customer))
        print(
            f"customer {customer}: accuracy {scores.mean():.3f}, "
            f"columns {fitted.get_support(indices=True).tolist()}, "
            f"{len(fitted.neighbours_)} neighbours asked"
        )
