"""The learner moses begun from programs that memory keeps of near problems, and from nothing.

    python benchmarks/moses_memory.py text 20newsgroups.jsonl.gz [--pairs 190] [--size 12]
    python benchmarks/moses_memory.py digits MNIST.npz

Pairs are solved one after the other, as in a stream: half of the rows to learn from, on the columns
with the highest information gain there, the other half to test on. The second search begins with
two programs that the learner kept on each of the five nearest problems before (`jsd-features`), as
`metafs solve --learner moses` does. The table has means over the problems from the 16th on, for
budgets of evaluations: errors in training and test, in %, and the share of problems on which memory
has fewer test errors, and more.
"""

import argparse
from collections.abc import Sequence

import numpy as np
from streams import digit_pairs, text_pairs

from metafs import Problem, Registry
from metafs.data.typing import Array
from metafs.memory import LearnerCandidate
from metafs.memory.memory import CANDIDATES_OF_OUTPUT
from metafs.pipeline.fitting.learner_candidates import programs_for
from metafs.plugin.programs import with_features
from metafs.plugin.signature import Signature
from metafs_filters import InfoGain
from metafs_moses import MosesClassifier

BUDGETS = (10, 30, 100, 300, 1_000, 3_000, 10_000)
NEIGHBOURS, FIRST = 5, 15


def halves(problem: Problem, seed: int) -> tuple[Problem, Problem]:
    """Return the rows to learn from and those to test on, each class divided evenly."""
    order = np.random.default_rng(seed).permutation(problem.n_samples)
    order = order[np.argsort(problem.y[order], kind="stable")]
    parts = []
    for rows in (order[::2], order[1::2]):
        parts.append(
            Problem.of(
                problem.X[rows],
                np.asarray(problem.classes)[problem.y[rows]],
                name=problem.name,
                feature_names=problem.feature_names,
                leave_out="nothing",
            )
        )
    return parts[0], parts[1]


def errors(learner: MosesClassifier, *parts: Problem) -> list[float]:
    return [float(np.mean(learner.predict(each.X) != each.y)) for each in parts]


def run(problems: Sequence[Problem], size: int, seed: int = 0) -> tuple[Array, int]:
    """Return errors by (problem, budget, start, part), and how many problems had programs."""
    jsd = Registry().distances["jsd-features"]
    memory: list[tuple[Signature, list[LearnerCandidate]]] = []
    found, n_helped = [], 0
    for number in np.random.default_rng(seed).permutation(len(problems)).tolist():
        train, test = halves(problems[number], seed)
        signature = jsd.signature(train)
        chosen = np.argsort(-InfoGain()(train.X, train.y), kind="stable")[:size]
        train, test = (each.columns(chosen.tolist()) for each in (train, test))
        distances = [jsd.distance(signature, each) for each, _ in memory]
        near = np.argsort(distances, kind="stable")[:NEIGHBOURS]
        programs = programs_for(train, [each for place in near for each in memory[place][1]])
        n_helped += bool(programs) and len(memory) >= FIRST
        rows = []
        for budget in BUDGETS:
            learner = MosesClassifier(max_evaluations=budget, random_state=seed)
            cold = errors(learner.fit(train.X, train.y), train, test)
            rows.append(
                [cold, errors(learner.fit(train.X, train.y, programs=programs), train, test)]
            )
        # What is remembered is what the last search kept, the one with memory.
        kept = [
            LearnerCandidate(str(output), named, length, score)
            for output, program, length, score in learner.candidates()
            if (named := with_features(program, train.feature_names.__getitem__)) is not None
        ]
        memory.append((signature, kept[:CANDIDATES_OF_OUTPUT]))
        found.append(rows)
    return np.array(found)[FIRST:], n_helped


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=("text", "digits"))
    parser.add_argument("path", metavar="FILE")
    parser.add_argument("--pairs", type=int, help="how many pairs to draw (all)")
    parser.add_argument("--size", type=int, default=12, help="columns that are learned from")
    parser.add_argument("--documents", type=int, default=150, help="rows of each class")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if given.kind == "text":
        problems = text_pairs(
            given.path, documents=given.documents, mi=0.0, seed=given.seed, pairs=given.pairs
        )
    else:
        problems = digit_pairs(
            given.path, images=given.documents, seed=given.seed, pairs=given.pairs
        )
    found, n_helped = run(problems, given.size, given.seed)
    print(f"{len(found)} problems, {n_helped} with programs to begin from\n")
    print(
        "| evaluations | training: from nothing | from memory | test: from nothing | from memory | "
        "fewer test errors | more |"
    )
    print("|--:|--:|--:|--:|--:|--:|--:|")
    for budget, each in zip(BUDGETS, found.transpose(1, 0, 2, 3), strict=True):
        (train, test), (train_begun, test_begun) = 100 * each.mean(axis=0)
        better, worse = each[:, 1, 1] < each[:, 0, 1], each[:, 1, 1] > each[:, 0, 1]
        print(
            f"| {budget:,} | {train:.2f} | {train_begun:.2f} | {test:.2f} | {test_begun:.2f} | "
            f"{better.mean():.0%} | {worse.mean():.0%} |"
        )


if __name__ == "__main__":
    main()
