"""Your own tables: a folder of csv files, a stream that names them, and properties of features."""

import random
import tempfile
from pathlib import Path

from metafs import solve

COLUMNS = ["visits", "spent", "age", "plan", "shoe_size", "lucky_number", "churned"]


def write_shop(path, seed):
    """Write a table in which customers who never visit or hardly spend leave."""
    rng = random.Random(seed)
    lines = [",".join(COLUMNS)]
    for _ in range(150):
        visits, spent = rng.randint(0, 3), rng.choice([5, 20, 80])
        churned = "yes" if visits == 0 or spent == 5 else "no"
        age = "" if rng.random() < 0.1 else rng.randint(18, 80)
        plan = rng.choice(["basic", "plus", "pro"])
        others = f"{rng.randint(35, 48)},{rng.randint(1, 99)}"
        lines.append(f"{visits},{spent},{age},{plan},{others},{churned}")
    path.write_text("\n".join(lines))


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    for shop in ("north", "south", "east"):
        write_shop(folder / f"{shop}.csv", seed=shop)
    (folder / "kinds.csv").write_text(
        "feature,behaviour\n"
        + "".join(f"{name},{int(name in COLUMNS[:2])}\n" for name in COLUMNS[:-1])
    )
    (folder / "shops.toml").write_text(
        "".join(
            f'[[problem]]\nsource = "{shop}.csv"\ntarget = "churned"\nname = "{shop}"\n'
            'meta_features = "kinds.csv"\n\n'
            for shop in ("north", "south", "east")
        )
    )
    for solution in solve(
        folder / "shops.toml", db=folder / "shops.duckdb", folds=3, selector="climb"
    ):
        print(solution.problem, solution.status, solution.features, f"{solution.score:.3f}")
