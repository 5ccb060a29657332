"""demo:digits: do the five nearest problems of each pair share a digit with it?"""

import tempfile
from pathlib import Path

from comparing import solve_all

from metafs_metadb import MetaDB


def digits_of(name: str) -> set[str]:
    _, one, _, two = name.split()
    return {one, two}


def share_a_digit(db: MetaDB) -> tuple[int, int]:
    """Return how many of all five nearest neighbours share a digit, and how many there are."""
    shared, total = 0, 0
    for name in db.problems().column("name"):
        problem = db.find_problem(name)
        signature = db.signature(problem["problem_id"], "jsd-features")
        for near in db.search("jsd-features", "digits").nearest(
            *signature, 5, exclude_fingerprint=problem["fingerprint"]
        ):
            total += 1
            shared += bool(digits_of(problem["name"]) & digits_of(near.name))
    return shared, total


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        db = MetaDB(Path(folder) / "digits.duckdb")
        solve_all("demo:digits", db, "none", budget=1000)
        shared, total = share_a_digit(db)
    print(f"of the five nearest problems, {shared} of {total} share a digit ", end="")
    print(f"({shared / total:.1%}; by chance 16 of 44, 36.4%)")


if __name__ == "__main__":
    main()
