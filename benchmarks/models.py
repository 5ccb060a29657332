"""What remembered models cost: recall, and recording, with up to 100,000 problems stored.

Problems, names and signatures are those of `scale.py`: about 200 of 1,000,000 names each. Each has
a reference model with a weight for each of its columns, 64 hashes of rows, and 18 losses of
transfer. Counted are whole calls, opening and closing the file included, in milliseconds of
processor time (all threads), medians of 10:

- recall of the 5 nearest problems, and of the 32 whose models are asked beside the basis
- their models: weights, scales, relevance, losses of transfer; and the basis of the space
- whether the content is known, ids of 500 names, and who shares some of 300 rows
- fitting a model of 300 rows and 500 columns with what was recalled
- recording a problem with 500 features, without a model and with one

    python benchmarks/models.py [N_STORED ...]
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scale
from recording import record_one
from scale import words

from metafs.memory.weights import history_of
from metafs.stats.linear import fit_linear
from metafs.stats.threads import threads_for
from metafs_metadb import MetaDB, Neighbour, ReferenceRows, record_queries
from metafs_metadb.models import basis

SIZES = (100, 10_000, 100_000)
N_TIMES = 10
N_RECORDED = 16
N_NEAR = 32

FILL = (
    """
insert into reference_model (
    run_id, problem_id, part, preparation, n_labels, regularisation, outputs, rest_norms,
    n_weights, n_transfers
)
select
    run_id, problem_id, problem_id % 8, 'words', 300, 1.0, ['yes'], [0.1], n_selections, 18
from run order by run_id
""",
    """
insert into weight (run_id, feature_id, output, weight)
select run_id, feature_id, 'yes', (hash(run_id, feature_id, 1) % 2001)::float / 1000 - 1
from selection order by run_id
""",
    """
insert into transfer_loss
select run_id, [2, 5, 20][1 + i // 6], [0, 0.1, 0.3, 1, 3, 10][1 + i % 6], 0.6 - 0.01 * (i % 6)
from run, range(18) t(i) order by run_id
""",
    """
insert into row_sketch select problem_id, hash(problem_id, i, 2) from problem, range(64) t(i)
order by problem_id
""",
    """
update selection set
    relevance = q, document_frequency = q / 2, mean = q / 2, spread = 0.3
where run_id between $first and $last
""",
    *(
        f"update tally set n_rows = (select count(*) from {table}) where table_name = '{table}'"
        for table in record_queries.TALLIED
    ),
    "checkpoint",
)


def fill(db: MetaDB, n: int) -> None:
    scale.fill(db, n)
    with db.writing() as con:
        for statement in FILL:
            if "$first" in statement:
                for first in range(1, n + 1, scale.CHUNK):
                    con.execute(statement, {"first": first, "last": first + scale.CHUNK - 1})
            else:
                con.execute(statement)
        for part in range(basis.N_PARTS):
            basis.take_turn(con, "default", n, 8 * (16 + part))


def reference(number: int, n: int) -> ReferenceRows:
    rng = np.random.default_rng(number)
    losses = [(k, s, 0.5) for k in (2, 5, 20) for s in (0.0, 0.1, 0.3, 1.0, 3.0, 10.0)]
    weights = rng.normal(size=n)
    return ReferenceRows("words", 300, ["yes"], [np.arange(n)], [weights], [0.1], 1.0, losses)


def recalled(db: MetaDB, near: list[Neighbour], names: list[str]) -> Any:
    models = db.references([each.problem_id for each in near])
    return history_of(near, models, db.basis("default").values(), db.feature_ids("default", names))


def timed_ms(ask: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.process_time()
    answer = ask()
    return 1e3 * (time.process_time() - begun), answer


def median(times: list[float]) -> str:
    return f"{statistics.median(times):.1f}"


def measured(db: MetaDB, n: int) -> list[str]:
    asked, names = scale.signatures_asked(db), words(500, 1)
    index = db.index("jsd", "default")
    index.nearest(*asked[0], 5)
    few, many, models, sharing, fits, without, with_model = ([] for _ in range(7))
    rng = np.random.default_rng(0)
    X = (rng.random((300, 500)) < 0.05).astype(float)
    y = rng.integers(0, 2, 300)
    for number in range(N_TIMES):
        few.append(timed_ms(partial(index.nearest, *asked[number], 5))[0])
        ms, near = timed_ms(partial(index.nearest, *asked[number], N_NEAR))
        many.append(ms)
        ms, told = timed_ms(partial(recalled, db, near, names))
        models.append(ms)
        hashes = rng.integers(0, 2**64, 300, np.uint64)
        sharing.append(timed_ms(partial(db.acquainted, "default", "", names, hashes))[0])
        with threads_for(X.size):
            fits.append(timed_ms(partial(fit_linear, X, y, classes=True, prior=told.weights))[0])
    for number in range(N_RECORDED):  # a whole round of updates of the basis
        named = words(500, 100 + number)
        without.append(timed_ms(partial(record_one, db, 10_000 + number, named))[0])
        hashes = rng.integers(0, 2**64, 64, np.uint64)
        more = {"reference": reference(number, 500), "row_hashes": hashes}
        with_model.append(timed_ms(partial(record_one, db, 20_000 + number, named, **more))[0])
    mean = float(np.mean(with_model) - np.mean(without))
    return [
        f"{n:,}",
        f"{db.path.stat().st_size / 1e6:.0f}",
        *map(median, (few, many, models, sharing, fits, without, with_model)),
        f"{mean:+.1f}",
    ]


def main(sizes: list[int]) -> None:
    print(
        "| problems | MB | 5 nearest | 32 nearest | models and basis | known names and rows "
        "| fit | record | record with a model | mean difference |"
    )
    print("|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for n in sizes:
        with tempfile.TemporaryDirectory() as folder:
            db = MetaDB(Path(folder) / "metafs.duckdb")
            fill(db, n)
            print("| " + " | ".join(measured(db, n)) + " |", flush=True)


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or list(SIZES))
