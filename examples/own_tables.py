"""Your own tables: a folder of csv files, a stream that names them, and properties of features."""

import random
import tempfile
from pathlib import Path

from metafs import solve

COLUMNS = ["visits", "spent", "age", "plan", "churned"]


def write_shop(path, seed):
    """Write a table in which customers who neither visit nor spend tend to leave."""
    rng = random.Random(seed)
    lines = [",".join(COLUMNS)]
    for _ in range(150):
        visits, spent = rng.randint(0, 9), round(rng.uniform(0, 100), 2)
        churned = "yes" if visits < 3 and spent < 60 else "no"
        age = "" if rng.random() < 0.1 else rng.randint(18, 80)
        lines.append(f"{visits},{spent},{age},{rng.choice(['basic', 'plus', 'pro'])},{churned}")
    path.write_text("\n".join(lines))


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    for shop in ("north", "south", "east"):
        write_shop(folder / f"{shop}.csv", seed=shop)
    (folder / "kinds.csv").write_text("feature,behaviour\nvisits,1\nspent,1\nage,0\nplan,0\n")
    (folder / "shops.toml").write_text(
        "".join(
            f'[[problem]]\nsource = "{shop}.csv"\ntarget = "churned"\nname = "{shop}"\n'
            'meta_features = "kinds.csv"\n\n'
            for shop in ("north", "south", "east")
        )
    )
    for solution in solve(folder / "shops.toml", db=folder / "shops.duckdb", folds=3):
        print(solution.problem, solution.status, solution.features, f"{solution.score:.3f}")
