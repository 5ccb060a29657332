"""Memory of columns that nobody has seen: the digit pairs, with every column renamed.

Each pair calls its pixels by names of its own, so no problem has a neighbour and the only way from
one to the next are meta-features: row and column of the pixel. Beside it the same pairs under
common names, with and without memory.
"""

from dataclasses import replace
from tempfile import TemporaryDirectory

from comparing import SPED_UP, solve_all

from metafs.readers import sources
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


def main():
    print("| columns | meta-features | reached cold fitness | evaluations | speed-up |")
    print("|---|---|--:|--:|--:|")
    for renamed, described in [(False, True), (True, False), (True, True)]:
        with TemporaryDirectory() as folder:
            db = MetaDB(f"{folder}/m.duckdb")
            for transfer in ("guided", "none"):
                solve_all(list(problems(renamed, described)), db, transfer, BUDGET)
            columns, rows = db.sql(SPED_UP)
            told = [dict(zip(columns, row, strict=True)) for row in rows]
            mean = list(db.sql("select avg(n_evaluations) from run where transfer = 'guided'")[1])
            reached, speedup = (
                (told[0]["reached_cold_fitness"], told[0]["geometric_mean"]) if told else ("", "")
            )
            names = "renamed in each pair" if renamed else "of one name"
            told_of = "row, column" if described else "none"
            print(f"| {names} | {told_of} | {reached} | {mean[0][0]:.0f} | {speedup} |", flush=True)


if __name__ == "__main__":
    main()
