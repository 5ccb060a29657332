"""demo:digits, cold and with memory: what transfer saves, and who the neighbours are."""

import argparse
import tempfile
from pathlib import Path

from metafs import solve
from metafs_metadb import MetaDB

COMPARED = """
select transfer, count(*) as problems, round(avg(fitness), 4) as fitness,
       round(avg(score), 4) as honest_score, round(avg(optimistic_score), 4) as optimistic_score,
       round(avg(n_evaluations), 1) as evaluations
from run group by transfer order by transfer desc
"""
SPED_UP = """
select transfer, count(*) as problems, count(ratio) as reached_cold_fitness,
       round(exp(avg(ln(ratio))), 2) as geometric_mean, round(avg(ratio), 2) as arithmetic_mean
from speedup group by transfer
"""
NEIGHBOURS = """
select p.name, n.name, nb.distance
from neighbour nb join run r using (run_id) join problem p on p.problem_id = r.problem_id
join problem n on n.problem_id = nb.problem_id
"""


def table(db: MetaDB, query: str) -> None:
    columns, rows = db.sql(query)
    print("| " + " | ".join(columns) + " |")
    print("|" + "---|" * len(columns))
    for row in rows:
        print("| " + " | ".join(str(value) for value in row) + " |")
    print()


def digits_of(name: str) -> set[str]:
    _, one, _, two = name.split()
    return {one, two}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--budget", type=int, default=1000)
    budget = parser.parse_args().budget
    with tempfile.TemporaryDirectory() as folder:
        db = MetaDB(Path(folder) / "digits.duckdb")
        for transfer in ("none", "paper", "guided"):
            for solution in solve("demo:digits", db=db, transfer=transfer, budget=budget):
                assert solution.status == "solved", solution
        print(f"budget {budget}; the memory holds the cold runs of all 45 pairs\n")
        table(db, COMPARED)
        table(db, SPED_UP)
        asked = [db.find_problem(row[2]) for row in db.problems().rows]
        shared, total = 0, 0
        for problem in filter(None, asked):
            keys, p = db.signature(problem["problem_id"], "jsd-features")
            for near in db.neighbours(
                keys,
                p,
                distance="jsd-features",
                space="digits",
                k=5,
                exclude_fingerprint=problem["fingerprint"],
            ):
                total += 1
                shared += bool(digits_of(problem["name"]) & digits_of(near.name))
        print(f"of the five nearest problems, {shared} of {total} share a digit ", end="")
        print(f"({shared / total:.1%}; by chance 16 of 44, 36.4%)")


if __name__ == "__main__":
    main()
