"""The learner moses on known Boolean functions, beside genetic programming, and on texts.

    python benchmarks/moses.py functions [--seeds 20]
    python benchmarks/moses.py deap [--seeds 5]
    python benchmarks/moses.py text 20newsgroups.jsonl.gz [--pairs 40] [--words 12]

`functions` counts evaluations, which are programs scored, until nothing is wrong on the whole truth
table. `deap` gives both the same number of evaluations; DEAP is run as its own examples of parity
and multiplexer are (eaSimple, 300 individuals, tournament of 3, crossover 0.8, mutation 0.1, rows
one by one), with and, or, not. As it makes the same choices whatever way rows are evaluated, its
errors come from rows packed into one integer, and its speed is told of both (row by row from at
most 5 seconds, from which the seconds of the whole budget follow). Figures are medians over seeds,
seconds those of the processor. `text` learns from half of the documents, on words chosen there by
information gain, and counts errors on the other half.
"""

import argparse
import operator
import random
import time
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from text_stream import draw, order_of, read_texts, some, word_presence

from metafs.data.typing import Array
from metafs_filters import InfoGain
from metafs_moses import MosesClassifier

Table = tuple[Array, Array]
POPULATION = 300


def truth_table(n: int) -> Array:
    return (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(np.float64)


def parity(n: int) -> Table:
    X = truth_table(n)
    return X, X.sum(axis=1) % 2 == 1


def majority(n: int) -> Table:
    X = truth_table(n)
    return X, X.sum(axis=1) > n / 2


def multiplexer(n_address: int) -> Table:
    X = truth_table(n_address + 2**n_address)
    address = (X[:, :n_address] @ 2 ** np.arange(n_address)).astype(np.int64)
    return X, X[np.arange(len(X)), n_address + address] == 1


FUNCTIONS: dict[str, tuple[Table, int]] = {
    "parity 2": (parity(2), 5_000),
    "parity 3": (parity(3), 5_000),
    "parity 4": (parity(4), 20_000),
    "parity 5": (parity(5), 60_000),
    "majority 5": (majority(5), 20_000),
    "3-multiplexer": (multiplexer(1), 5_000),
    "6-multiplexer": (multiplexer(2), 20_000),
    "11-multiplexer": (multiplexer(3), 100_000),
}
BUDGETS = {
    "parity 4": 5_000,
    "parity 5": 20_000,
    "majority 5": 5_000,
    "6-multiplexer": 5_000,
    "11-multiplexer": 20_000,
}


def moses_of(table: Table, evaluations: int, seed: int) -> tuple[int, int, int, float]:
    """Return evaluations, errors, literals and seconds of one search."""
    X, wanted = table
    started = time.process_time()
    found = MosesClassifier(max_evaluations=evaluations, random_state=seed).fit(X, wanted)
    seconds = time.process_time() - started
    return found.n_evaluations_, -int(found.scores_[0]), found.sizes_[0], seconds


def functions(seeds: int) -> None:
    print("| function | rows | solved | evaluations: median | most | literals | evaluations/s |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for name, (table, budget) in FUNCTIONS.items():
        runs = np.array([moses_of(table, budget, seed) for seed in range(seeds)])
        n, errors, literals, seconds = runs.T
        print(
            f"| {name} | {len(table[0]):,} | {np.count_nonzero(errors == 0)} of {seeds} "
            f"| {np.median(n):,.0f} | {n.max():,.0f} | {np.median(literals):.0f} "
            f"| {n.sum() / seconds.sum():,.0f} |",
            flush=True,
        )


class Finished(Exception):
    """The budget is spent, or nothing is wrong."""


class GeneticProgramming:
    """DEAP's eaSimple on a truth table."""

    def __init__(self, table: Table) -> None:
        from deap import base, creator, gp, tools

        self.gp, self.tools = gp, tools
        X, wanted = table
        n = X.shape[1]
        self.rows = [tuple(bool(value) for value in row) for row in X]
        self.wanted = [bool(each) for each in wanted]
        self.columns = [_integer(column) for column in X.T]
        self.target, self.all = _integer(wanted), _integer(np.ones(len(X)))
        of_bools, of_words = (gp.PrimitiveSet("MAIN", n, "IN") for _ in range(2))
        for primitives, negate in ((of_bools, operator.not_), (of_words, self.complement)):
            primitives.addPrimitive(operator.and_, 2)
            primitives.addPrimitive(operator.or_, 2)
            primitives.addPrimitive(negate, 1, name="not_")
        self.of_bools, self.of_words = of_bools, of_words
        if not hasattr(creator, "Errors"):
            creator.create("Errors", base.Fitness, weights=(-1.0,))
            creator.create("Individual", gp.PrimitiveTree, fitness=creator.Errors)
        self.box = box = base.Toolbox()
        box.register("expression", gp.genFull, pset=of_words, min_=3, max_=5)
        box.register("individual", tools.initIterate, creator.Individual, box.expression)
        box.register("population", tools.initRepeat, list, box.individual)
        box.register("select", tools.selTournament, tournsize=3)
        box.register("mate", gp.cxOnePoint)
        box.register("grow", gp.genGrow, min_=0, max_=2)
        box.register("mutate", gp.mutUniform, expr=box.grow, pset=of_words)
        for name in ("mate", "mutate"):  # Koza's limit, without which Python's parser gives up
            box.decorate(name, gp.staticLimit(key=operator.attrgetter("height"), max_value=17))

    def complement(self, words: int) -> int:
        return self.all & ~words

    def errors_by_row(self, individual: Any) -> tuple[float]:
        program = self.gp.compile(individual, self.of_bools)
        pairs = zip(self.rows, self.wanted, strict=True)
        return (float(sum(program(*row) != wanted for row, wanted in pairs)),)

    def errors_packed(self, individual: Any) -> tuple[float]:
        program = self.gp.compile(individual, self.of_words)
        return (float((program(*self.columns) ^ self.target).bit_count()),)

    def run(
        self, errors: Callable[[Any], tuple[float]], evaluations: int, seed: int, most: float
    ) -> tuple[float, float]:
        """Return the least errors, and evaluations a second of the whole run; `most` is seconds."""
        from deap import algorithms

        random.seed(seed)
        n, least, started = 0, np.inf, time.process_time()

        def evaluate(individual: Any) -> tuple[float]:
            nonlocal n, least
            if n == evaluations or least == 0 or time.process_time() - started > most:
                raise Finished
            n += 1
            found = errors(individual)
            least = min(least, found[0])
            return found

        self.box.register("evaluate", evaluate)
        try:
            population = self.box.population(POPULATION)
            algorithms.eaSimple(population, self.box, 0.8, 0.1, evaluations, verbose=False)
        except Finished:
            pass
        return least, n / (time.process_time() - started)


def _integer(bits: Array) -> int:
    return sum(1 << i for i, bit in enumerate(bits.tolist()) if bit)


def beside_deap(seeds: int) -> None:
    print(
        "| function | budget | errors: moses | DEAP | exact: moses | DEAP | seconds: moses | DEAP "
        "| evaluations/s: moses | DEAP | DEAP, packed | times DEAP | times packed |"
    )
    print("|---" + "|--:" * 12 + "|")
    for name, budget in BUDGETS.items():
        table, _ = FUNCTIONS[name]
        peer, runs = GeneticProgramming(table), []
        for seed in range(seeds):
            n, errors, _, seconds = moses_of(table, budget, seed)
            _, by_row = peer.run(peer.errors_by_row, budget, seed, most=5.0)
            least, packed = peer.run(peer.errors_packed, budget, seed, most=np.inf)
            runs.append((errors, least, seconds, budget / by_row, n / seconds, by_row, packed))
        held = np.array(runs)
        errors, least, seconds, other_seconds, ours, by_row, packed = np.median(held, axis=0)
        times = np.median(held[:, 4:5] / held[:, 5:], axis=0)
        exact = np.count_nonzero(held[:, :2] == 0, axis=0)
        print(
            f"| {name} | {budget:,} | {errors:g} | {least:g} | {exact[0]} of {seeds} | {exact[1]} "
            f"| {seconds:.2f} | {other_seconds:.1f} | {ours:,.0f} | {by_row:,.0f} | {packed:,.0f} "
            f"| {times[0]:.0f} | {times[1]:.0f} |",
            flush=True,
        )


def text(path: str, pairs: int, words: int) -> None:
    texts = draw(read_texts(path), 600, 300, 0)
    X, vocabulary = word_presence([text for each in texts.values() for text in each])
    labels = np.repeat(list(texts), [len(each) for each in texts.values()])
    learners: dict[str, Any] = {
        "moses": MosesClassifier(),
        "moses, complexity 1": MosesClassifier(complexity=1.0),
        "logistic regression": LogisticRegression(),
        "forest": RandomForestClassifier(random_state=0),
        "decision tree": DecisionTreeClassifier(random_state=0),
        "decision tree, 8 leaves": DecisionTreeClassifier(random_state=0, max_leaf_nodes=8),
    }
    results: dict[str, list[tuple[float, ...]]] = {name: [] for name in learners}
    shown = ""
    for a, b in some(list(combinations(texts, 2)), pairs, 0):
        rows = np.flatnonzero((labels == a) | (labels == b))
        rows = rows[order_of(f"{a} {b}", len(rows), 0)]
        train, test = rows[: len(rows) // 2], rows[len(rows) // 2 :]
        y_train, y_test = labels[train], labels[test]
        chosen = np.argsort(-InfoGain()(X[train], y_train), kind="stable")[:words]
        X_train, X_test = (
            pd.DataFrame(X[rows][:, chosen].toarray(), columns=vocabulary[chosen])
            for rows in (train, test)
        )
        for name, learner in learners.items():
            started = time.process_time()
            learner.fit(X_train, y_train)
            seconds = time.process_time() - started
            wrong = [
                np.mean(learner.predict(each) != y)
                for each, y in ((X_train, y_train), (X_test, y_test))
            ]
            results[name].append((*wrong, size_of(learner), seconds))
        shown = shown or learners["moses, complexity 1"].sentences_[0]
    print("| learner | error: training | test | size | seconds | moses better | worse |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    own = np.array(results["moses"])[:, 1]
    for name, held in results.items():
        train_error, test_error, size, seconds = np.mean(held, axis=0)
        other = np.array(held)[:, 1]
        better, worse = np.count_nonzero(own < other), np.count_nonzero(own > other)
        print(
            f"| {name} | {train_error:.4f} | {test_error:.4f} | {size:.1f} | {seconds:.3f} "
            f"| {better} | {worse} |"
        )
    print(f"\n{len(own)} pairs; {shown}")


def size_of(learner: Any) -> float:
    """Return literals of programs, leaves of trees (of a forest all), weights of linear models."""
    if isinstance(learner, MosesClassifier):
        return sum(learner.sizes_)
    if isinstance(learner, DecisionTreeClassifier):
        return float(learner.get_n_leaves())
    if isinstance(learner, RandomForestClassifier):
        return float(sum(tree.get_n_leaves() for tree in learner.estimators_))
    return float(learner.coef_.size)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("functions").add_argument("--seeds", type=int, default=20)
    commands.add_parser("deap").add_argument("--seeds", type=int, default=5)
    texts = commands.add_parser("text")
    texts.add_argument("path", metavar="FILE")
    texts.add_argument("--pairs", type=int, default=40)
    texts.add_argument("--words", type=int, default=12)
    given = parser.parse_args()
    if given.command == "functions":
        functions(given.seeds)
    elif given.command == "deap":
        beside_deap(given.seeds)
    else:
        text(given.path, given.pairs, given.words)


if __name__ == "__main__":
    main()
