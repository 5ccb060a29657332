"""What recording one problem costs when thousands are stored already.

One `record` is: opening the file, one transaction (problem, signature, run, 64 selections, 30
candidates, 5 neighbours), closing, and now and then folding the log in. Target: under 50 ms at
100,000 stored problems.

    python benchmarks/recording.py [N_STORED ...]
"""

import re
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from metafs_metadb import MetaDB, NeighbourRow, ProblemRow, RunRow, SelectionRows

N_FEATURES = 64
PIXELS = tuple(f"pixel {i}" for i in range(N_FEATURES))
N_CANDIDATES = 30
N_TIMES = 60
TARGET_MS = 50.0

FILL = (
    """
insert into problem (space, name, source, fingerprint, n_samples, n_features, target, created_at)
select 'default', 'stored ' || i, 'stored.csv', md5(i::varchar), 300, $n_features, 'y', $now
from range($n) t(i) order by i
""",
    """
insert into feature (space, name) select 'default', 'pixel ' || i from range($n_features) t(i)
""",
    """
insert into signature
select problem_id, 'jsd-features', hash(problem_id % 1000, i), 1 / $n_features
from problem, range($n_features) t(i) order by problem_id
""",
    """
insert into run (
    problem_id, selector, params, transfer, status, score, fitness, n_evaluations, n_selected,
    started_at, metafs_version, settings, n_selections, n_candidates, n_neighbours
)
select
    problem_id, 'climb', '{}', 'guided', 'solved', random(), random(), 1000, 8,
    $now, '0.1.0', 'digest', $n_features, $n_candidates, 5
from problem order by problem_id
""",
    """
insert into selection (run_id, feature_id, rank, q, quality, expected, selected)
select run_id, feature_id, feature_id, random(), random(), random(), feature_id % 8 = 0
from run, feature order by run_id
""",
    """
insert into candidate
select run_id, 10 * i, [1 + (7 * i + j) % 64 for j in range(i % 9)], random()
from run, range($n_candidates) t(i) order by run_id
""",
    """
insert into neighbour
select run_id, 1 + (run_id + i) % $n, i + 1, 0.5, 4 from run, range(5) t(i) order by run_id
""",
    """
update tally set n_rows = case table_name
    when 'problem' then (select count(*) from problem)
    when 'feature' then (select count(*) from feature)
    when 'signature' then (select count(*) from signature)
    when 'run' then (select count(*) from run)
    when 'selection' then (select count(*) from selection)
    when 'candidate' then (select count(*) from candidate)
    when 'neighbour' then (select count(*) from neighbour)
    else n_rows
end
""",
    "checkpoint",
)


def fill(db: MetaDB, n: int) -> None:
    values = {
        "n": n,
        "n_features": N_FEATURES,
        "n_candidates": N_CANDIDATES,
        "now": datetime(2026, 1, 1),
    }
    with db.writing() as con:
        for statement in FILL:
            wanted = set(re.findall(r"\$(\w+)", statement))
            con.execute(statement, {name: values[name] for name in wanted} or None)


def record_one(db: MetaDB, number: int, names: Sequence[str] = PIXELS, **more: Any) -> float:
    """Record a problem with these features; return how many milliseconds it took."""
    rng, n = np.random.default_rng(number), len(names)
    keys = rng.integers(0, 2**64, N_FEATURES, np.uint64)
    problem = ProblemRow("default", f"new {number}", "new.csv", f"new {number}", 300, n, "y")
    run = RunRow("climb", "guided", datetime(2026, 1, 1), "0.1.0", score=0.9, settings="digest")
    selections = SelectionRows(
        names=names,
        rank=np.arange(1, n + 1),
        q=rng.random(n),
        quality=rng.random(n),
        expected=rng.random(n),
        selected=rng.random(n) < 0.1,
    )
    candidates = [
        (10 * i, rng.choice(n, i % 9, replace=False), rng.random()) for i in range(N_CANDIDATES)
    ]
    neighbours = [NeighbourRow(1 + i, 1 + i, 0.5, 4.0) for i in range(5)] if number else []
    begun = time.perf_counter()
    db.record(
        problem,
        run,
        signatures={"jsd-features": (keys, np.full(N_FEATURES, 1 / N_FEATURES))},
        selections=selections,
        candidates=candidates,
        neighbours=neighbours,
        **more,
    )
    return 1000 * (time.perf_counter() - begun)


def main(sizes: list[int]) -> None:
    print(
        "| stored problems | selection rows | file MB | record, median ms | mean with folds "
        "| mean CPU ms | slowest | target |"
    )
    print("|--:|--:|--:|--:|--:|--:|--:|---|")
    for n in sizes:
        with tempfile.TemporaryDirectory() as folder:
            db = MetaDB(Path(folder) / "metafs.duckdb")
            if n:
                fill(db, n)
            record_one(db, 0)
            cpu = time.process_time()
            times = [record_one(db, 1 + i) for i in range(N_TIMES)]
            cpu = 1000 * (time.process_time() - cpu) / N_TIMES
            if findings := db.check():
                raise SystemExit(f"the MetaDB is not sound: {findings}")
            megabytes = db.path.stat().st_size / 1e6
        median = statistics.median(times)
        verdict = f"< {TARGET_MS:.0f} ms: {'met' if median < TARGET_MS else 'MISSED'}"
        print(
            f"| {n:,} | {n * N_FEATURES:,} | {megabytes:.0f} | {median:.1f} "
            f"| {statistics.mean(times):.1f} | {cpu:.1f} | {max(times):.0f} | {verdict} |",
            flush=True,
        )


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [0, 10_000, 100_000])
