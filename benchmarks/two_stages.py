"""What a distance in two stages saves: some features first, all of them where that is near.

    python benchmarks/two_stages.py 20newsgroups.jsonl.gz [--draws 3] [--project 20 100]
                 [--below 0.5 0.7 0.9] [--mi 0.05]

Problems are pairs of newsgroups, 190 of each draw, described by `jsd-all-rows`. Each asks all that
came before it for the five nearest. *All* compares every signature with every other, as the paper
did; *index* is the search of the MetaDB, an inverted index, which gives the same answer. *N, D*
compares the N features selected most often by `climb` on the first 20 problems, and those nearer
than D again by all. *Keys read* are those of the signatures compared, in both stages; *same* is the
share of its neighbours that *all* names too, problems at distance 1 left out. Seconds are of the
processor, for comparing alone.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from time import process_time

import numpy as np
from text_stream import text_pairs

from metafs import Problem, Registry
from metafs.data.typing import Array
from metafs.plugin.signature import Signature, jensen_shannon
from metafs_climb import Climb
from metafs_metadb import MemoryIndex, Signatures

K, FIRST = 5, 20


def nearest(distances: Array) -> list[int]:
    """Return the k nearest problems that share anything, the nearest first."""
    order = np.argsort(np.round(distances, 9), kind="stable")[:K]
    return [int(place) for place in order if distances[place] < 1.0]


def one_by_one(signatures: Sequence[Signature]) -> tuple[list[list[int]], list[Array], float]:
    """Compare each signature with all before it."""
    found, rows, began = [], [], process_time()
    for i, asked in enumerate(signatures):
        rows.append(np.sqrt([jensen_shannon(asked, each) for each in signatures[:i]]))
        found.append(nearest(rows[-1]))
    return found, rows, process_time() - began


def by_index(signatures: Sequence[Signature]) -> tuple[list[list[int]], float]:
    """Ask the index of the MetaDB, to which each problem is added afterwards."""
    nothing = np.zeros(0)
    index = MemoryIndex(
        Signatures(
            nothing.astype(np.int64),
            (),
            (),
            np.zeros(1, np.int64),
            nothing.astype(np.uint64),
            nothing,
        )
    )
    found, began = [], process_time()
    for i, asked in enumerate(signatures):
        near = index.nearest(asked.keys, asked.p, K)
        found.append([each.problem_id for each in near])
        index.add(i, str(i), str(i), asked.keys, asked.p)
    return found, process_time() - began


def keys_of_all(signatures: Sequence[Signature]) -> int:
    """Return how many keys are read to compare each signature with all before it."""
    lengths = np.array([len(each.keys) for each in signatures])
    before = np.arange(len(lengths))
    return int((lengths * before + np.cumsum(lengths) - lengths).sum())


def in_stages(
    short: Sequence[Signature], whole: Sequence[Signature], below: float
) -> tuple[list[list[int]], int, int, float]:
    """Compare by some features first; return neighbours, whole comparisons, keys and seconds."""
    found, n_whole, n_keys, began = [], 0, keys_of_all(short), process_time()
    for i, asked in enumerate(short):
        first = np.sqrt([jensen_shannon(asked, each) for each in short[:i]])
        distances = np.ones(i)
        for place in np.flatnonzero(first < below).tolist():
            distances[place] = np.sqrt(jensen_shannon(whole[i], whole[place]))
            n_whole += 1
            n_keys += len(whole[i].keys) + len(whole[place].keys)
        found.append(nearest(distances))
    return found, n_whole, n_keys, process_time() - began


def same(found: Sequence[Sequence[int]], truth: Sequence[Sequence[int]]) -> float:
    n_same = sum(len(set(mine) & set(right)) for mine, right in zip(found, truth, strict=True))
    return n_same / max(sum(map(len, truth)), 1)


def important(problems: Sequence[Problem]) -> list[str]:
    """Return the features that are selected, those selected most often first."""
    counts: dict[str, int] = {}
    for problem in problems:
        climb = Climb(max_evaluations=1000, random_state=0).fit(problem.X, problem.y)
        for column in np.flatnonzero(climb.support_).tolist():
            name = problem.feature_names[column]
            counts[name] = counts.get(name, 0) + 1
    return sorted(counts, key=lambda name: (-counts[name], name))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", metavar="FILE")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--documents", type=int, default=150)
    parser.add_argument("--project", type=int, nargs="+", default=[20, 100])
    parser.add_argument("--below", type=float, nargs="+", default=[0.5, 0.7, 0.9])
    parser.add_argument("--mi", type=float, default=0.05)
    given = parser.parse_args()
    problems = [
        each
        for seed in range(given.draws)
        for each in text_pairs(given.path, documents=given.documents, mi=given.mi, seed=seed)
    ]
    order = np.random.default_rng(0).permutation(len(problems))
    problems = [problems[place] for place in order]
    jsd = Registry().distances["jsd-all-rows"]
    whole = [jsd.signature(each) for each in problems]
    truth, rows, seconds_all = one_by_one(whole)
    n_all = sum(map(len, rows))
    found, seconds = by_index(whole)
    print(
        f"{len(problems)} problems, {np.mean([len(each.keys) for each in whole]):.0f} rows each\n"
    )
    print("| search | keys of a signature | compared whole | keys read | seconds | same |")
    print("|---|--:|--:|--:|--:|--:|")
    keys, n_keys_all = np.mean([len(each.keys) for each in whole]), keys_of_all(whole)
    print(f"| all | {keys:.0f} | 100% | 100% | {seconds_all:.2f} | 100% |")
    print(f"| index | {keys:.0f} | | | {seconds:.2f} | {same(found, truth):.0%} |", flush=True)
    names = important(problems[:FIRST])
    for n_features, below in product(given.project, given.below):
        some = replace(jsd, features=tuple(names[:n_features]))
        short = [some.signature(each) for each in problems]
        found, n_whole, n_keys, seconds = in_stages(short, whole, below)
        keys = np.mean([len(each.keys) for each in short])
        print(
            f"| {n_features}, {below:g} | {keys:.0f} | {n_whole / n_all:.0%} | "
            f"{n_keys / n_keys_all:.0%} | {seconds:.2f} | {same(found, truth):.0%} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
