"""What memory costs when 1,000, 10,000 and 100,000 problems are stored, with a million features.

Each problem has about 200 of 1,000,000 features, drawn by Zipf's law (the k-th most frequent is
drawn in proportion to 1/k), and a signature of 24 to 128 of 50,000 keys (`many_keys` in
`recall.py`). Timed are whole calls, opening and closing the file included:

- recall: the 5 nearest of 50 new problems, by the plain SQL join on an open connection, and by
  the index cache; neighbours must be identical
- experience of 5 neighbours; the record of 1,000 features over all problems, by SQL and by the
  sums in the index cache; both must be identical, bit for bit
- recording a problem with 500 features, all known, and with 50 of them new

"SQL" is the same library without its indexes. Each step runs in a process of its own and
says how much memory it took at most; "nothing" is a process that only opens the file.

    python benchmarks/scale.py [--check] [N_STORED ...]
"""

import json
import math
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from recall import N_QUERIES, TARGET_RATIO, K, Problems, many_keys, store
from recording import record_one

from metafs_metadb import FeatureHistory, MetaDB, Neighbour, recall_queries, record_queries
from metafs_metadb.features import feature_history
from metafs_metadb.features.feature_names import feature_ids
from metafs_metadb.search import index_cache

SIZES = (1_000, 10_000, 100_000)
N_WORDS = 1_000_000
N_ASKED = 1_000
N_RECORDED = 500
N_NEW = 50
N_TIMES = 20
CHUNK = 10_000

WORDS = "insert into feature (space, name) select 'default', 'word ' || i from range($n) t(i)"

# 100 to 300 draws a problem, of which those of the most frequent words coincide.
SELECTIONS = """
insert into selection (run_id, feature_id, rank, q, quality, expected, selected)
with draw as (
    select distinct
        run_id,
        1 + floor(exp(hash(run_id, i) / 18446744073709551616 * ln($n)))::bigint % $n as feature_id
    from run, range(370) t(i)
    where run_id between $first and $last and i < 120 + hash(run_id) % 250
),
scored as (
    select *, hash(run_id, feature_id) / 18446744073709551616 as q from draw
)
select
    run_id, feature_id, row_number() over (partition by run_id order by q desc), q, q, null, q > 0.9
from scored
order by run_id
"""

# A tenth of the problems come from one file, the others each from its own.
SETTLE = (
    """
update problem set source = if(problem_id % 10 = 0, 'shared.csv', name || '.csv')
""",
    """
update run set
    score = hash(run.run_id) % 1000 / 1000, n_evaluations = 1000, n_selections = s.n
from (select run_id, count(*) as n from selection group by run_id) s
where s.run_id = run.run_id
""",
    *(
        f"update tally set n_rows = (select count(*) from {table}) where table_name = '{table}'"
        for table in record_queries.TALLIED
    ),
    "checkpoint",
)


def drawn(n: int) -> tuple[Problems, list[Any]]:
    """Return n problems to store, and signatures of further ones to ask for."""
    lengths, keys, p = many_keys(n + N_QUERIES, np.random.default_rng(n))
    ends = np.cumsum(lengths)
    asked = [
        (keys[end - length : end], p[end - length : end])
        for end, length in zip(ends[n:], lengths[n:], strict=True)
    ]
    return (lengths[:n], keys[: ends[n - 1]], p[: ends[n - 1]]), asked


def signatures_asked(db: MetaDB) -> list[Any]:
    """Return the signatures to search for, which `fill` stored next to the database."""
    with np.load(db.path.with_name("asked.npz")) as stored:
        return [(stored[f"keys{i}"], stored[f"p{i}"]) for i in range(N_QUERIES)]


def words(n: int, seed: int) -> list[str]:
    """Return n words, the frequent ones likelier."""
    rng = np.random.default_rng(seed)
    found = np.unique(np.exp(rng.random(4 * n) * np.log(N_WORDS)).astype(int))
    return [f"word {i}" for i in rng.choice(found, n, replace=False)]


def timed(ask: Callable[[int], Any], times: int = N_TIMES) -> list[float]:
    """Return how many milliseconds each of several questions took."""
    return [timed_ms(partial(ask, number))[0] for number in range(times)]


def median_and_best(times: list[float]) -> str:
    median, best = statistics.median(times), min(times)
    return f"{median:.0f} ({best:.0f})" if best >= 10 else f"{median:.2f} ({best:.2f})"


def timed_ms(ask: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.perf_counter()
    answer = ask()
    return 1e3 * (time.perf_counter() - begun), answer


def feature_history_by_sql(
    db: MetaDB, space: str, names: list[str], **left_out: str
) -> FeatureHistory:
    with db.reading() as con:
        ids = feature_ids(con, space, names)
        return feature_history.read(con, ids, space, **left_out)


def totals(
    db: MetaDB,
    names: list[str],
    source: str = "stored 7.csv",
    record_of: Callable[..., FeatureHistory] = MetaDB.feature_history,
) -> list[Any]:
    record = record_of(db, "default", names, exclude_fingerprint="stored 7", exclude_source=source)
    columns = (record.n_problems, record.n_selected)
    return [record.n_solved, *(column.tolist() for column in columns)]


# --- the steps, each in a process of its own ------------------------------------------------------


def fill(db: MetaDB, n: int) -> dict[str, Any]:
    problems, asked = drawn(n)
    store(db, problems)
    parts = {f"keys{i}": keys for i, (keys, _) in enumerate(asked)}
    parts |= {f"p{i}": p for i, (_, p) in enumerate(asked)}
    np.savez(db.path.with_name("asked.npz"), **parts)
    with db.writing() as con:
        con.execute(WORDS, {"n": N_WORDS})
        for first in range(1, n + 1, CHUNK):
            bounds = {"first": first, "last": first + CHUNK - 1}
            con.execute(SELECTIONS, {"n": N_WORDS, **bounds})
        for statement in SETTLE:
            con.execute(statement)
    return {}


def check(db: MetaDB, n: int) -> dict[str, Any]:
    return {"findings": db.check()}


def nothing(db: MetaDB, n: int) -> dict[str, Any]:
    with db.reading():
        return {}


def sql(db: MetaDB, n: int) -> dict[str, Any]:
    asked = signatures_asked(db)
    with db.reading() as con:

        def join(number: int) -> list[Any]:
            keys, p = asked[number]
            con.register("incoming_signature", {"key": keys, "p": p})
            values = {"distance": "jsd", "space": "default", "k": K}
            values |= {"exclude_fingerprint": None, "exclude_name": None}
            rows = con.execute(recall_queries.NEAREST, values).fetchall()
            return [[i, name, math.sqrt(d), mark] for i, name, d, mark in rows]

        nearest = [join(number) for number in range(N_QUERIES)]
        join_ms = timed(join, N_QUERIES)
    by_sql = partial(totals, db, record_of=feature_history_by_sql)
    record_ms = timed(lambda seed: by_sql(words(N_ASKED, seed)), 3)
    return {
        "join": join_ms,
        "feature_history": record_ms,
        "nearest": nearest,
        "totals": by_sql(words(N_ASKED, 0)),
    }


def build(db: MetaDB, n: int) -> dict[str, Any]:
    signatures_ms, _ = timed_ms(lambda: db.index("jsd", "default"))
    features_ms, _ = timed_ms(lambda: totals(db, words(N_ASKED, 0)))
    return {"signatures": signatures_ms, "features": features_ms}


def ask(db: MetaDB, n: int) -> dict[str, Any]:
    asked = signatures_asked(db)
    nothing(db, n)  # the engine itself takes 50 ms to start
    opening_ms, index = timed_ms(lambda: db.index("jsd", "default"))
    first_ms, _ = timed_ms(lambda: index.nearest(*asked[0], K))
    nearest = [index.nearest(*each, K) for each in asked]
    index_ms = timed(lambda number: index.nearest(*asked[number], K), N_QUERIES)
    first_record_ms, record = timed_ms(lambda: totals(db, words(N_ASKED, 0)))
    return {
        "opening": opening_ms,
        "first": first_ms,
        "index": index_ms,
        "first_record": first_record_ms,
        "feature_history": timed(lambda seed: totals(db, words(N_ASKED, seed))),
        "experience": timed(lambda number: experience(db, nearest[number])),
        "nearest": [[[*vars(each).values()] for each in found] for found in nearest],
        "totals": record,
    }


def leave_out(db: MetaDB, n: int) -> dict[str, Any]:
    """Ask for a record without a tenth of all problems."""
    return {"ms": timed(lambda seed: totals(db, words(N_ASKED, seed), "shared.csv"), 3)}


def experience(db: MetaDB, near: list[Neighbour]) -> None:
    db.experience([each.problem_id for each in near])


def record(db: MetaDB, n: int) -> dict[str, Any]:
    return _record(db, 0)


def record_in_empty(db: MetaDB, n: int) -> dict[str, Any]:
    return _record(MetaDB(db.path.with_name("empty.duckdb")), 2_000)


def _record(db: MetaDB, seed: int) -> dict[str, Any]:
    record_one(db, seed + 999, words(N_RECORDED, seed + 999))
    known, new = [], []
    for number in range(seed, seed + N_TIMES):
        names = words(N_RECORDED, number)
        known.append(record_one(db, number, names))
        names[:N_NEW] = [f"new {number} {i}" for i in range(N_NEW)]
        new.append(record_one(db, number + 100_000, names))
    return {"known": known, "new": new}


# --------------------------------------------------------------------------------------------------


def in_process(step: str, path: Path, n: int) -> dict[str, Any]:
    """Run a step in a process of its own."""
    command = [sys.executable, __file__, "--step", step, str(path), str(n)]
    completed = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return dict(json.loads(completed.stdout))


def run_step(step: str, path: str, n: int) -> None:
    answer = globals()[step](MetaDB(path), n)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(answer | {"peak_mb": peak}))


def measure(n: int, with_check: bool) -> list[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "metafs.duckdb"
        in_process("fill", path, n)
        file_mb = path.stat().st_size / 1e6
        steps = (
            "nothing",
            "sql",
            "build",
            "ask",
            "leave_out",
            "record_in_empty",
            "record",
        )
        results = {step: in_process(step, path, n) for step in steps}
        if with_check and (findings := in_process("check", path, n)["findings"]):
            raise SystemExit(f"the MetaDB is not sound: {findings}")
        files = Path(f"{path}{index_cache.SUFFIX}").glob("*")
        index_mb = sum(each.stat().st_size for each in files) / 1e6
    by_sql, asked = results["sql"], results["ask"]
    if (by_sql["nearest"], by_sql["totals"]) != (asked["nearest"], asked["totals"]):
        raise SystemExit(f"SQL and index differ at {n} problems")
    ratio = statistics.median(by_sql["join"]) / statistics.median(asked["index"])
    best_ratio = min(by_sql["join"]) / min(asked["index"])
    each_problem = (asked["index"], asked["experience"], asked["feature_history"])
    together = zip(*each_problem, results["record"]["known"], strict=False)
    return [
        ("file, MB", f"{file_mb:.0f}"),
        ("indexes, MB", f"{index_mb:.0f}"),
        ("making the index of signatures, s", f"{results['build']['signatures'] / 1e3:.2f}"),
        ("making those of features, s", f"{results['build']['features'] / 1e3:.2f}"),
        ("opening the index of signatures", f"{asked['opening']:.0f}"),
        ("recall, SQL join", median_and_best(by_sql["join"])),
        ("recall, index, first", f"{asked['first']:.1f}"),
        ("recall, index, later", median_and_best(asked["index"])),
        (f"ratio (goal at 100,000: {TARGET_RATIO:.0f})", f"{ratio:.0f} ({best_ratio:.0f})"),
        (f"experience of {K} neighbours", median_and_best(asked["experience"])),
        (f"record of {N_ASKED:,} features, SQL", median_and_best(by_sql["feature_history"])),
        ("the same, index, first", f"{asked['first_record']:.1f}"),
        ("the same, index, later", median_and_best(asked["feature_history"])),
        ("the same, a tenth of all problems left out", median_and_best(results["leave_out"]["ms"])),
        (
            f"recording, {N_RECORDED} features, empty file",
            median_and_best(results["record_in_empty"]["known"]),
        ),
        (
            f"recording, {N_RECORDED} known features",
            median_and_best(results["record"]["known"]),
        ),
        (f"recording with {N_NEW} of them new", median_and_best(results["record"]["new"])),
        ("all four for a problem: later, index", median_and_best([sum(each) for each in together])),
        *(
            (f"peak memory, {label}, MB", f"{results[step]['peak_mb']:.0f}")
            for label, step in (
                ("nothing", "nothing"),
                ("SQL", "sql"),
                ("making the indexes", "build"),
                ("asking", "ask"),
                ("leaving a tenth out", "leave_out"),
                ("recording", "record"),
            )
        ),
    ]


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--step"]:
        run_step(arguments[1], arguments[2], int(arguments[3]))
        return
    with_check = "--check" in arguments
    sizes = [int(each) for each in arguments if each != "--check"] or list(SIZES)
    columns = []
    for n in sizes:
        columns.append(measure(n, with_check))
        print(f"{n:,} stored: {dict(columns[-1])}", file=sys.stderr, flush=True)
    print(
        "| milliseconds unless said, median (best) | " + " | ".join(f"{n:,}" for n in sizes) + " |"
    )
    print("|---|" + "--:|" * len(sizes))
    for rows in zip(*columns, strict=True):
        print(f"| {rows[0][0]} | " + " | ".join(value for _, value in rows) + " |")
    print(f"\n{N_QUERIES} of {N_QUERIES} recalls and all records identical.")


if __name__ == "__main__":
    main(sys.argv[1:])
