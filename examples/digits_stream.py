"""Solve ten related problems and ask the memory what it learnt."""

import tempfile
from pathlib import Path

from metafs import solve
from metafs.data.readers import sources
from metafs_metadb import MetaDB

folder = tempfile.TemporaryDirectory()
db = MetaDB(Path(folder.name) / "digits.duckdb")
pairs = sources(["demo:digits"])[:10]

for solution in solve(pairs, db=db, budget=300, folds=3, selector="climb"):
    nearest = solution.neighbours[0][0] if solution.neighbours else "nobody yet"
    print(
        f"{solution.problem}: {len(solution.features)} pixels, fitness {solution.fitness:.3f}, "
        f"nested score {solution.score:.3f}, learnt from {nearest}"
    )

columns, rows = db.sql(
    "select name, n_selected, share from core_feature order by share desc limit 5"
)
print(*columns)
for row in rows:
    print(*row)
folder.cleanup()
