"""What the benchmarks of transfer share: solving a stream cold and warm, and the two tables."""

from typing import Any

from metafs import solve
from metafs_metadb import MetaDB

COMPARED = """
select transfer, count(*) as problems, round(avg(fitness), 4) as fitness,
       round(avg(score), 4) as nested_score, round(avg(n_selected), 1) as features,
       round(avg(n_evaluations), 1) as evaluations
from run group by transfer order by transfer desc
"""
SPED_UP = """
select transfer, count(*) filter (where reached) as reached_cold_fitness,
       round(exp(avg(ln(ratio))), 2) as geometric_mean, round(avg(ratio), 2) as arithmetic_mean
from speedup group by transfer
"""


def solve_all(stream: Any, db: MetaDB, transfer: str, budget: int, **settings: Any) -> None:
    for solution in solve(stream, db=db, transfer=transfer, budget=budget, **settings):
        assert solution.status == "solved", solution


def print_comparison(db: MetaDB) -> None:
    for query in (COMPARED, SPED_UP):
        columns, rows = db.sql(query)
        print("| " + " | ".join(columns) + " |")
        print("|" + "---|" * len(columns))
        for row in rows:
            print("| " + " | ".join(str(value) for value in row) + " |")
        print()
