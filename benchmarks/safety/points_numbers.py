"""Wrong numbers: scores, targets, definitions, transfers, ties and very large values."""

import json
from pathlib import Path

import numpy as np
from command import Installation, Outcome

QUICK = ("--budget", "50", "--folds", "2", "--json")


def write_table(path: Path, columns: dict[str, object], y: object) -> None:
    rows = zip(*columns.values(), y, strict=True)
    lines = [",".join([*columns, "y"]), *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n")


def solutions(found: Outcome) -> list[dict[str, object]]:
    return [json.loads(line) for line in found.out.splitlines()]


def last_line(found: Outcome) -> str:
    lines = (found.out or found.err).strip().splitlines()
    return lines[-1] if lines else "nothing was printed"


def a_class_with_one_row(metafs: Installation, folder: Path) -> str:
    columns = dict(
        zip("abcd", np.random.default_rng(0).normal(size=(4, 120)).tolist(), strict=True)
    )
    write_table(folder / "rare.csv", columns, [int(row == 7) for row in range(120)])
    found = metafs.metafs(
        "solve", "rare.csv", "--target", "y", "--task", "classes", *QUICK, cwd=folder
    )
    (solution,) = solutions(found)
    score, notes = solution["score"], solution.get("notes") or []
    return f"score {score:.3f}" if score is not None else f"{notes[0][:60]}..."


WITH_AND_WITHOUT = """
import numpy as np
from metafs import MetaSelector
y = np.arange(600) % 60
X = np.random.default_rng(0).normal(size=(600, 20))
X[:, 5] += y / 30
given = {"params": {"n_features_to_select": 5}, "space": "s"}
both = [MetaSelector("infogain", **given, **db).fit(X, y) for db in ({}, {"db": "m.duckdb"})]
same = (both[0].get_support() == both[1].get_support()).all()
print(f"best infogain {both[0].scores_.max():.3f} without, {both[1].scores_.max():.3f} with a db; "
      f"{'the same' if same else 'other'} features")
"""


def one_target_with_and_without_a_db(metafs: Installation, folder: Path) -> str:
    return last_line(metafs.python(WITH_AND_WITHOUT, cwd=folder))


INFINITE = """
import datetime
from metafs_metadb import MetaDB, ProblemRow, RunRow, SelectionRows
db = MetaDB("m.duckdb")
db.ensure()
db.record(
    ProblemRow("s", "p", "p.csv", "print", 10, 2, "y"),
    RunRow("climb", "none", datetime.datetime(2026, 1, 1), "0.1.0", score=0.5),
    selections=SelectionRows(("a", "b"), q=[float("inf"), 1.0], selected=[True, False]),
    meta_features={"size": [1, 2]},
)
print("feature_experience", db.feature_experience("s", limit=9).relative[0])
"""


def an_infinite_score(metafs: Installation, folder: Path) -> str:
    return last_line(metafs.python(INFINITE, cwd=folder))


COPIES = """
from pathlib import Path
import metafs_metadb
folder = Path(metafs_metadb.__file__).parent
texts = [path.read_text() for path in folder.glob("*.py")]
print(sum(text.count("n_evaluations asc nulls last") for text in texts), "in Python, 1 in a view")
"""


def the_order_of_the_best_run(metafs: Installation, folder: Path) -> str:
    return last_line(metafs.python(COPIES, cwd=folder))


CONFIDENCE = """
import numpy as np
from metafs import Problem, solve
from metafs_climb import MIConfidence
from metafs_metadb import MetaDB
X = np.random.default_rng(0).integers(0, 2, (40, 3))
problem = Problem.of(X, X[:, 0], feature_names=list("abc"))
for b in (5, 120):
    db = MetaDB(f"{b}.duckdb")
    list(solve(problem, db=db, params={"measure": MIConfidence(b=b)}, budget=30))
    query = "select quality from selection join feature using (feature_id) where name = 'a'"
    ((Q,),) = db.sql(query)[1]
    print(f"b={b}: Q = {Q:.2f}", end="; ")
"""


def confidence(metafs: Installation, folder: Path) -> str:
    return last_line(metafs.python(CONFIDENCE, cwd=folder)).rstrip("; ")


def the_published_rule(metafs: Installation, folder: Path) -> str:
    options = ("--transfer", "paper", "--distance", "jsd-rows", *QUICK)
    found = solutions(metafs.metafs("solve", "demo:digits", *options, cwd=folder, timeout=600))
    alone = [each for each in found if not each["neighbours"]]
    started = sum(bool(each["transferred"]) for each in alone)
    return f"{started} of {len(alone)} problems without a neighbour got a start"


def projecting_from_nothing(metafs: Installation, folder: Path) -> str:
    options = ("--distance", "jsd-rows", "--project", "10", *QUICK)
    metafs.metafs("solve", "demo:digits", *options, cwd=folder, timeout=600)

    def count(query: str) -> object:
        rows = json.loads(metafs.metafs("sql", query, "--json", cwd=folder).out)
        return next(iter(rows[0].values()))

    features = count("select len(feature_names) from projection")
    compared = "select count(distinct problem_id) from signature where distance like '%[10]'"
    return f"{features} of 10 features frozen, {count(compared)} of 45 problems comparable"


def columns_in_another_order(metafs: Installation, folder: Path) -> str:
    rng = np.random.default_rng(0)
    differing = 0
    for number in range(5):
        table = {name: rng.integers(0, 2, 24).tolist() for name in "abcdefgh"}
        table["b copy"] = table["b"]
        y = [one ^ other for one, other in zip(table["b"], table["g"], strict=True)]
        found = []
        for order, names in enumerate((list(table), list(table)[::-1])):
            file = f"{number}-{order}.csv"
            write_table(folder / file, {name: table[name] for name in names}, y)
            words = ("solve", file, "--target", "y", "--db", f"{file}.duckdb", *QUICK)
            (solution,) = solutions(metafs.metafs(*words, cwd=folder))
            found.append(sorted(solution["features"]))
        differing += found[0] != found[1]
    return f"{differing} of 5 tables give other features when their columns are reversed"


def values_near_1e300(metafs: Installation, folder: Path) -> str:
    a, b = np.random.default_rng(0).normal(size=(2, 60))
    write_table(folder / "huge.csv", {"a": (a * 1e300).tolist(), "b": b.tolist()}, a > 0)
    (found,) = solutions(metafs.metafs("solve", "huge.csv", "--target", "y", *QUICK, cwd=folder))
    if found["score"] is None:
        return f"{found['status']}: {(found['error'] or '')[:70]}..."
    return f"score {found['score']:.3f}"


POINTS = [
    ("5", "a class with one of 120 rows of noise", a_class_with_one_row),
    ("6", "`MetaSelector`, integer y of 60 values", one_target_with_and_without_a_db),
    ("7a", "relative score of an infinite score", an_infinite_score),
    ("7b", "copies of the best run's order", the_order_of_the_best_run),
    ("7c", "Q where the measure has another b", confidence),
    ("8a", "`--transfer paper`, digits by rows", the_published_rule),
    ("8b", "`--project 10` from an empty memory, digits", projecting_from_nothing),
    ("9b", "columns in another order, some equal", columns_in_another_order),
    ("9c", "values near 1e300", values_near_1e300),
]
