"""Memory of unseen features: the digit pairs, with every column renamed.

Each pair has its own names for the pixels, so no problem has a neighbour and only meta-features,
row and column of a pixel, connect the problems. For comparison: the same pairs under common names,
without meta-features, and with each regressor for meta-regression.
"""

from dataclasses import replace
from tempfile import TemporaryDirectory
from time import process_time

from comparing import SPED_UP, solve_all

from metafs import Registry
from metafs.data.readers import sources
from metafs_metadb import MetaDB

BUDGET = 1000


def problems(renamed, described):
    for source in sources(["demo:digits"]):
        problem = source.read()
        if renamed:
            names = tuple(f"{problem.name}: {name}" for name in problem.feature_names)
            problem = replace(problem, feature_names=names)
        if not described:
            problem = replace(problem, meta_features=None, meta_feature_names=())
        yield problem


def sped_up(renamed, described, regressor):
    """Solve all pairs with memory, then without, and compare."""
    with TemporaryDirectory() as folder:
        db, stream = MetaDB(f"{folder}/m.duckdb"), list(problems(renamed, described))
        began = process_time()
        solve_all(stream, db, "guided", BUDGET, regressor=regressor)
        seconds = process_time() - began
        solve_all(stream, db, "none", BUDGET)
        columns, rows = db.sql(SPED_UP)
        (found,) = (dict(zip(columns, row, strict=True)) for row in rows)
        ((evaluations,),) = db.sql("select avg(n_evaluations) from run where transfer = 'guided'")[
            1
        ]
    return found["reached_cold_fitness"], evaluations, found["geometric_mean"], seconds


def main():
    print("| columns | meta-features | regressor | reached | evaluations | speed-up | seconds |")
    print("|---|---|---|--:|--:|--:|--:|")
    renamed = [(True, True, name) for name in Registry().regressors]
    for unseen, described, name in [(False, True, None), (True, False, None), *renamed]:
        reached, evaluations, speedup, seconds = sped_up(unseen, described, name)
        columns = "renamed in each pair" if unseen else "of one name"
        meta_features = "row, column" if described else "none"
        cells = (
            columns,
            meta_features,
            name or "",
            reached,
            f"{evaluations:.0f}",
            speedup,
            f"{seconds:.0f}",
        )
        print("| " + " | ".join(map(str, cells)) + " |", flush=True)


if __name__ == "__main__":
    main()
