"""demo:digits, cold and with memory: what transfer saves, and who the neighbours are."""

import argparse
import shutil
import tempfile
from pathlib import Path

from comparing import print_comparison, solve_all

from metafs_metadb import MetaDB

STREAM = "demo:digits"


def digits_of(name: str) -> set[str]:
    _, one, _, two = name.split()
    return {one, two}


def share_a_digit(db: MetaDB) -> tuple[int, int]:
    """Return how many of all five nearest neighbours share a digit, and how many there are."""
    shared, total = 0, 0
    names = [row[db.problems().columns.index("name")] for row in db.problems().rows]
    for problem in (db.find_problem(name) for name in names):
        signature = db.signature(problem["problem_id"], "jsd-features")
        for near in db.search("jsd-features", "digits").nearest(
            *signature, 5, exclude_fingerprint=problem["fingerprint"]
        ):
            total += 1
            shared += bool(digits_of(problem["name"]) & digits_of(near.name))
    return shared, total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--budget", type=int, default=1000)
    budget = parser.parse_args().budget
    with tempfile.TemporaryDirectory() as folder:
        cold = MetaDB(Path(folder) / "none.duckdb")
        solve_all(STREAM, cold, "none", budget)
        print(f"demo:digits, budget {budget}\n")
        for memory in ("nothing", "the cold runs of all other pairs"):
            for transfer in ("paper", "guided"):
                db = MetaDB(Path(folder) / f"{transfer}, {memory}.duckdb")
                if memory == "nothing":
                    solve_all(STREAM, db, transfer, budget)
                    solve_all(STREAM, db, "none", budget)
                else:
                    shutil.copy(cold.path, db.path)
                    solve_all(STREAM, db, transfer, budget)
                print(f"{transfer}; at the beginning the memory holds {memory}\n")
                print_comparison(db)
        shared, total = share_a_digit(cold)
        print(f"of the five nearest problems, {shared} of {total} share a digit ", end="")
        print(f"({shared / total:.1%}; by chance 16 of 44, 36.4%)")


if __name__ == "__main__":
    main()
