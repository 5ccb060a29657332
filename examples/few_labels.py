"""Two labels a class: what remembered models are worth on rows that no choice has seen."""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from metafs import MetaSelector, Registry, solve
from metafs.data.readers import sources
from metafs.data.readers.demo import held_back

GRID = {"C": np.logspace(-3, 2, 6)}

stream = sources(["demo:few-labels"])
folder = tempfile.TemporaryDirectory()
db = Path(folder.name) / "digits.duckdb"

# 25 problems of 60 rows a digit leave what their models learned.
for _ in solve(stream[:25], db=db, selector="infogain", folds=2, check=0):
    pass

print("problem         labels  logistic   no memory      memory  strength")
columns = []
for number in range(25, 30):
    problem = stream[number].read()
    X_test, y_test = held_back(number)
    y_test = np.array([problem.classes.index(digit) for digit in y_test])
    frame, more = (
        pd.DataFrame(rows, columns=problem.feature_names)
        for rows in (problem.X, problem.X_unlabelled)
    )
    asked = MetaSelector("infogain", db=db, name=problem.name, space="digits")
    prior = asked.fit(frame, problem.y, X_unlabelled=more).prior_
    plain = make_pipeline(StandardScaler(), GridSearchCV(LogisticRegression(), GRID, cv=2))
    scores = [plain.fit(problem.X, problem.y).score(X_test, y_test)]
    for known in (None, prior):
        model = (
            Registry()
            .learners["remembered"]
            .fit(problem.X, problem.y, prior=known, X_unlabelled=problem.X_unlabelled)
        )
        scores.append(np.mean(model.predict(X_test) == y_test))
    columns.append(scores)
    shown = "  ".join(f"{100 * each:10.1f}" for each in scores)
    print(f"{problem.name:14}  {len(problem.y):6}{shown}  {model.model_.strength.s:8g}")
print("mean" + " " * 18 + "  ".join(f"{100 * each:10.1f}" for each in np.mean(columns, axis=0)))
folder.cleanup()
