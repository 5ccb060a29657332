"""A model without choosing anything, from a table as it comes, saved and used on new rows."""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from metafs import MetaClassifier

COMMAND = [sys.executable, "-c", "from metafs.cli import main; main()"]


def customers(seed, n=300):
    """Return customers of a shop: text, dates, truth values and missing values, and who left."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "plan": rng.choice(["basic", "plus", "pro"], n),
            "visits": rng.poisson(4, n).astype(float),
            "since": pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.integers(0, 700, n), "D"),
            "newsletter": rng.random(n) < 0.5,
            "shoe_size": rng.integers(36, 47, n),
        }
    )
    leaves = 0.8 * (4 - frame["visits"]) + 2 * (frame["plan"] == "basic") + rng.normal(size=n) > 1
    frame.loc[rng.random(n) < 0.05, "visits"] = np.nan
    return frame, np.where(leaves, "left", "stayed")


with tempfile.TemporaryDirectory() as folder:
    home = Path(folder)
    for seed, shop in enumerate(("north", "south")):
        X, y = customers(seed)
        model = MetaClassifier(db=home / "shops.duckdb", name=shop, folds=3, random_state=0)
        model.fit(X, y)
        new, truth = customers(seed + 100)
        right = (model.predict(new) == truth).mean()
        print(
            f"{shop}: {', '.join(model.get_feature_names_out())} by {model.pipeline_['learner']}, "
            f"nested score {model.score_:.2f}, right on new rows {right:.2f}"
        )

    X.assign(churned=y).to_csv(home / "west.csv", index=False)
    new.to_csv(home / "new.csv", index=False)
    solve = ["solve", "west.csv", "--target", "churned", "--selector", "auto", "--folds", "3"]
    subprocess.run(
        [*COMMAND, *solve, "--save-models", "models"], cwd=home, check=True, capture_output=True
    )
    done = subprocess.run(
        [*COMMAND, "predict", "west", "new.csv"],
        cwd=home,
        check=True,
        capture_output=True,
        text=True,
    )
    print(*done.stdout.splitlines()[:4], sep="\n")
