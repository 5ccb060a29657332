"""Two labels a class: what the default with a memory is worth on rows that no choice has seen."""

import tempfile
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from metafs import solve
from metafs.data.readers import sources
from metafs.data.readers.demo import held_back

GRID = {"C": np.logspace(-3, 2, 6)}

stream = sources(["demo:few-labels"])
folder = tempfile.TemporaryDirectory()
db = Path(folder.name) / "digits.duckdb"

# 25 problems of 60 rows a digit leave what their models learned.
for _ in solve(stream[:25], db=db, selector="infogain", folds=2):
    pass

print("problem         labels  logistic   no memory      memory  strength")
columns = []
for number in range(25, 30):
    problem = stream[number].read()
    X_test, digits = held_back(number)
    plain = make_pipeline(StandardScaler(), GridSearchCV(LogisticRegression(), GRID, cv=2))
    labels = np.asarray(problem.classes)[plain.fit(problem.X, problem.y).predict(X_test)]
    (without,) = solve(problem, db=None)
    (found,) = solve(problem, db=db)
    answers = [labels, without.model.predict(X_test), found.model.predict(X_test)]
    columns.append([100 * np.mean(each == digits) for each in answers])
    shown = "  ".join(f"{each:10.1f}" for each in columns[-1])
    print(f"{problem.name:14}  {len(problem.y):6}{shown}  {found.memory['strength']:8.1f}")
print("mean" + " " * 18 + "  ".join(f"{each:10.1f}" for each in np.mean(columns, axis=0)))
folder.cleanup()
