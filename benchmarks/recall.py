"""Recalling the 5 nearest of many stored problems: the plain SQL join against the index in memory.

Both answer from the same MetaDB file and must name the same neighbours. The join is timed on a
connection that is already open. In two memories the problems come in sqrt(n) kinds: "few keys" has
256 distinct keys, of which every problem has 64; "many keys" has 50,000, of which a problem has 24
to 128, some its kind's and some everybody's. In the third, "unrelated", all problems have the same
64 keys and are of no kind: nothing can be left out beforehand, and it has no target.
Targets at 100,000: at least 20 times the join, growth exponent log10(t100k/t10k) at most 0.6.

    python benchmarks/recall.py
"""

import math
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from metafs_metadb import MetaDB, Neighbour, recall_queries

SIZES = (10_000, 100_000)
N_QUERIES = 50
K = 5
TARGET_RATIO = 20.0
TARGET_EXPONENT = 0.6

Problems = tuple[Any, Any, Any]  # lengths, keys and probabilities, problem after problem

FILL = (
    """
insert into problem (space, name, source, fingerprint, n_samples, n_features, target, created_at)
select 'default', 'stored ' || i, '', 'stored ' || i, 300, 64, 'y', $now from range($n) t(i)
""",
    """
insert into run (
    problem_id, selector, params, transfer, status, started_at, metafs_version,
    n_selections, n_candidates, n_neighbours
)
select problem_id, 'climb', '{}', 'none', 'solved', $now, '0.1.0', 0, 0, 0 from problem
""",
)


def few_keys(n: int, rng: np.random.Generator) -> Problems:
    n_keys, length, n_kinds = 256, 64, math.isqrt(n)
    vocabulary = rng.integers(0, 2**64, n_keys, np.uint64)
    kind = rng.integers(0, n_kinds, n)
    keys_of = np.argsort(rng.random((n_kinds, n_keys)), axis=1)[:, :length]
    mean_of = rng.dirichlet(np.full(length, 0.5), n_kinds) + 1e-3
    p = rng.gamma(100 * mean_of[kind]) + 1e-9
    return np.full(n, length), vocabulary[keys_of[kind]].ravel(), _normalised(p).ravel()


def many_keys(n: int, rng: np.random.Generator) -> Problems:
    n_keys, n_common, n_kinds, longest = 50_000, 100, math.isqrt(n), 128
    vocabulary = rng.integers(0, 2**64, n_keys, np.uint64)
    own_of = n_common + np.argsort(rng.random((n_kinds, 4096)), axis=1)[:, : 2 * longest]
    own_of = own_of + rng.integers(0, n_keys - n_common - 4096, (n_kinds, 1))
    lengths, keys, p = [], [], []
    for begin in range(0, n, 5000):
        m = min(5000, n - begin)
        kind = rng.integers(0, n_kinds, m)
        own = np.argsort(rng.random((m, 2 * longest)), axis=1)[:, : longest - 16]
        common = np.argsort(rng.random((m, n_common)), axis=1)[:, :16]
        table = np.hstack([common, np.take_along_axis(own_of[kind], own, axis=1)])
        length = rng.integers(24, longest + 1, m)
        held = np.arange(longest) < length[:, np.newaxis]
        weights = (rng.gamma(1.0, size=table.shape) + 1e-6) * held
        lengths.append(length)
        keys.append(vocabulary[table[held]])
        p.append(_normalised(weights)[held])
    return np.concatenate(lengths), np.concatenate(keys), np.concatenate(p)


def unrelated(n: int, rng: np.random.Generator) -> Problems:
    length = 64
    vocabulary = rng.integers(0, 2**64, length, np.uint64)
    p = rng.gamma(0.5, size=(n, length)) + 1e-9
    return np.full(n, length), np.tile(vocabulary, n), _normalised(p).ravel()


def _normalised(weights: Any) -> Any:
    return weights / weights.sum(axis=1, keepdims=True)


def store(db: MetaDB, problems: Problems) -> None:
    lengths, keys, p = problems
    values = {"now": datetime(2026, 1, 1)}
    with db.writing() as con:
        con.execute(FILL[0], values | {"n": len(lengths)})
        con.execute(FILL[1], values)
        owner = np.repeat(np.arange(1, len(lengths) + 1), lengths)
        con.register("incoming", {"problem_id": owner, "key": keys, "p": p})
        con.execute("insert into signature select problem_id, 'jsd', key, p from incoming")
        con.execute("checkpoint")


def timed(ask: Callable[[Any, Any], list[Neighbour]], asked: list[Any]) -> tuple[list[Any], float]:
    """Return the answers, and the seconds of one: median over queries, better of two rounds."""
    rounds = []
    for _ in range(2):
        answers, seconds = [], []
        for keys, p in asked:
            begun = time.perf_counter()
            answers.append(ask(keys, p))
            seconds.append(time.perf_counter() - begun)
        rounds.append(seconds)
    return answers, statistics.median(map(min, zip(*rounds, strict=True)))


def measure(make: Callable[[int, np.random.Generator], Problems], n: int) -> dict[str, float]:
    lengths, keys, p = make(n + N_QUERIES, np.random.default_rng(n))
    ends = np.cumsum(lengths)
    asked = [
        (keys[end - length : end], p[end - length : end])
        for end, length in zip(ends[n:], lengths[n:], strict=True)
    ]
    with tempfile.TemporaryDirectory() as folder:
        db = MetaDB(Path(folder) / "metafs.duckdb")
        store(db, (lengths[:n], keys[: ends[n - 1]], p[: ends[n - 1]]))
        begun = time.perf_counter()
        index = db.index("jsd", "default")
        loading = time.perf_counter() - begun
        with db.reading() as con:

            def join(keys: Any, p: Any) -> list[Neighbour]:
                con.register("incoming_signature", {"key": keys, "p": p})
                values = {"distance": "jsd", "space": "default", "k": K}
                values |= {"exclude_fingerprint": None, "exclude_name": None}
                rows = con.execute(recall_queries.NEAREST, values).fetchall()
                return [Neighbour(i, name, math.sqrt(d), mark) for i, name, d, mark in rows]

            by_join, join_s = timed(join, asked)
        by_index, index_s = timed(lambda keys, p: index.nearest(keys, p, K), asked)
    if by_join != by_index:
        raise SystemExit(f"different neighbours among {n} problems")
    return {"join": join_s, "index": index_s, "loading": loading}


def main() -> None:
    print("| memory | stored | SQL join ms | index ms | ratio | loading s | identical | targets |")
    print("|---|--:|--:|--:|--:|--:|---|---|")
    memories = (("few keys", few_keys), ("many keys", many_keys), ("unrelated", unrelated))
    for name, make in memories:
        seconds = []
        for n in SIZES:
            found = measure(make, n)
            seconds.append(found["index"])
            ratio = found["join"] / found["index"]
            verdict = ""
            if n == SIZES[-1]:
                exponent = math.log10(seconds[-1] / seconds[0])
                met = ratio >= TARGET_RATIO and exponent <= TARGET_EXPONENT
                target_met = ("met" if met else "MISSED") if make is not unrelated else "no target"
                verdict = f"exponent {exponent:.2f}: {target_met}"
            print(
                f"| {name} | {n:,} | {1e3 * found['join']:.1f} | {1e3 * found['index']:.2f} "
                f"| {ratio:.0f} | {found['loading']:.1f} | {N_QUERIES} of {N_QUERIES} "
                f"| {verdict} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
