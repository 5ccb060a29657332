r"""Learned recall: does it pay to learn which problems and which features transfer?

    python benchmarks/learned_recall.py FOLDER... [--budget 1000] [--orders 2]
                 [--first-order 1] [--part N]
                 [--arms ranked agreement trusting both neighbours features boosting moses factors]

Each FOLDER is a stream made by `streams.py`. A climb runs until it has the fitness with which the
cold one of the same budget ended; what it found is then remembered. The arms differ in the prior:

- `ranked`: none; features go by their own information. `guided`: `metafs.transfer.expectation`.
- `agreement`: guided, with problems as near as their features' information is alike,
  :math:`d = \sqrt{1 - \cos(r_D, r_{D'})}` for scores r relative to the best of each problem.
  `trusting`: guided, which doubts its prior when that d, not its own distance, is beyond `FAR`.
  `both`: neighbours and doubt by that d. Apart, because doubt alone changes much.
- `neighbours`: ridge regression learns, from all pairs of remembered problems, which share of one's
  selected features the other selected too; seen are their distance, the cosine, the correlation on
  common features, and how many are common. With w what it predicts, every problem has a say:

  .. math:: P(s) = \tfrac12 \Big[ \frac{\sum_D w_D^3 (0.8\, sel_D(s) + 0.2\, r_D(s))}
            {\sum_{D \ni s} w_D^3 + \max_D w_D^3} + \mathrm{frequency}(s) \Big]

- `features`: logistic regression learns, from features of problems at the time they were new, which
  are then selected; P is its probability, relative to the largest.
- `boosting`, `moses`: the same with boosted trees, or with the mean of three Boolean programs, from
  descriptions of the problem too (`known_of_problem`): evolutionary learning on the meta level, as
  the authors of the published system propose. What guided expects breaks ties between programs.
- `factors`: problems and features have factors, from the main directions of scores and selections
  of all problems solved; those of a new problem follow from its scores, and its selections too.

Models begin with 15 problems (guided before) and are fitted again after every tenth, to problems
already solved only. *Against guided* is the ratio of the speed-ups, paired over problems, with a
95 % interval by bootstrap over problems; *slower*, the share slower than cold; *ms*, the time for a
prior. The interval takes the orders as they are, and what is found early changes all that follows:
other orders move a ratio by more than it says, so a gain counts only if fresh ones show it too
(`--first-order`).
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from stream_memory import NEIGHBOURS, Memory, Stream

from metafs.data.typing import Array
from metafs.errors import MetafsError
from metafs.plugin.prior import Prior
from metafs.transfer.expectation import FAR, STARTS, TRANSFERS, expect, selection_frequency
from metafs_climb import Climb
from metafs_moses import MosesClassifier

FIRST, EVERY, LATEST, N_FACTORS = 15, 10, 60, 10

Arm = Callable[[Memory, int], Prior | None]


def ranked(memory: Memory, i: int) -> Prior | None:
    return expect([], memory.stream.problems[i].feature_names, TRANSFERS["ranked"])


def guided(
    memory: Memory, i: int, *, near_by: str = "distance", doubt_by: str = "distance"
) -> Prior | None:
    """Return guided's prior; neighbours, and doubt in the nearest, go by either distance."""
    if not memory.solved:
        return None
    near = memory.nearest(getattr(memory.stream, near_by)[i])
    prior = expect(near, memory.stream.problems[i].feature_names, history=memory.record(i))
    if prior is None or near_by == doubt_by:
        return prior
    nearest = getattr(memory.stream, doubt_by)[i, memory.solved].min()
    return replace(prior, doubtful=bool(nearest > FAR))


class LearnedNeighbours:
    """Neighbours weighed by the share of selected features they are predicted to have in common."""

    def __init__(self) -> None:
        self.model: Any = None

    def __call__(self, memory: Memory, i: int) -> Prior | None:
        stream, solved = memory.stream, np.array(memory.solved, dtype=int)
        prior = guided(memory, i)
        if len(solved) < FIRST or prior is None:
            return prior
        if self.model is None or len(solved) % EVERY == 0:
            self.model = self._fitted(memory, solved)
        predicted = np.clip(self.model.predict(related(stream, i, solved)), 0.0, None)
        if not predicted.any():
            return prior
        w, rows, ids = predicted**3, solved[:, None], stream.ids[i]
        worth = 0.8 * memory.selected[rows, ids] + 0.2 * stream.relative[rows, ids]
        contributed = w @ worth / (w @ stream.has[rows, ids] + w.max())
        best = solved[np.argsort(-predicted, kind="stable")[:STARTS]]
        starts = [np.flatnonzero(memory.selected[j, ids]) for j in best]
        return Prior(
            np.clip((contributed + selection_frequency(memory.record(i))) / 2, 0.0, 1.0),
            starts=tuple(start for start in starts if len(start)),
            size=prior.size,
            guides=True,
            doubtful=prior.doubtful,
        )

    def _fitted(self, memory: Memory, solved: Array) -> Ridge:
        chosen = memory.selected[solved]
        shared = chosen @ chosen.T / np.maximum(chosen.sum(axis=1), 1.0)[:, None]
        others = ~np.eye(len(solved), dtype=bool)
        rows = [related(memory.stream, j, solved[o]) for j, o in zip(solved, others, strict=True)]
        return Ridge(1e-3).fit(np.vstack(rows), shared[others])


def logistic() -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression(C=0.3, max_iter=1000))


def boosting() -> Any:
    return HistGradientBoostingClassifier(max_iter=60, max_leaf_nodes=8, random_state=0)


class Programs:
    """The mean of Boolean programs, learned with classes of equal weight."""

    def fit(self, X: Array, y: Array) -> "Programs":
        weight = np.where(y, 0.5 / y.mean(), 0.5 / (1 - y.mean()))
        self.learners = [
            MosesClassifier(max_evaluations=3_000, complexity=1.0, random_state=seed).fit(
                X, y, np.rint(10 * weight)
            )
            for seed in range(3)
        ]
        return self

    def predict_proba(self, X: Array) -> Array:
        return np.asarray(np.mean([each.predict_proba(X) for each in self.learners], axis=0))


class LearnedFeatures:
    """Features expected as they were selected, among those of which memory knew as much.

    Models other than logistic regression see a description of the problem as well, and what guided
    expects breaks their ties.
    """

    def __init__(self, model_of: Callable[[], Any] = logistic) -> None:
        self.seen: list[tuple[int, Array]] = []
        self.model_of, self.model = model_of, None

    def __call__(self, memory: Memory, i: int) -> Prior | None:
        prior = guided(memory, i)
        if prior is None:
            return None
        if len(self.seen) >= FIRST and (self.model is None or len(self.seen) % EVERY == 0):
            self.model = self._fitted(memory)
        rows = known_of_features(memory, i, prior)
        if self.model_of is not logistic:
            about = known_of_problem(memory, i, prior)
            rows = np.column_stack([rows, np.tile(about, (len(rows), 1))])
        self.seen.append((i, rows))
        if self.model is None:
            return prior
        p = self.model.predict_proba(rows)[:, 1]
        if self.model_of is not logistic:
            p = p + 0.1 * prior.expected
        return replace(prior, expected=p / p.max())

    def _fitted(self, memory: Memory) -> Any:
        latest = self.seen[-LATEST:]
        chosen = [memory.selected[j, memory.stream.ids[j]] > 0 for j, _ in latest]
        found = np.concatenate(chosen)
        return self.model_of().fit(np.vstack([rows for _, rows in latest]), found)


class LearnedFactors:
    """Selections predicted from scores by the main directions of both over all solved problems."""

    def __init__(self) -> None:
        self.mean = self.basis = np.zeros(0)

    def __call__(self, memory: Memory, i: int) -> Prior | None:
        stream, solved = memory.stream, np.array(memory.solved, dtype=int)
        prior = guided(memory, i)
        if len(solved) < FIRST or prior is None:
            return prior
        if not len(self.basis) or len(solved) % EVERY == 0:
            both = np.hstack([stream.relative[solved], memory.selected[solved]])
            self.mean = both.mean(axis=0)
            self.basis = np.linalg.svd(both - self.mean, full_matrices=False)[2][:N_FACTORS]
        ids, n = stream.ids[i], stream.relative.shape[1]
        seen, told = self.basis[:, ids], stream.relative[i, ids] - self.mean[ids]
        factors = np.linalg.solve(seen @ seen.T + np.eye(len(seen)), seen @ told)
        expected = np.clip(self.mean[n + ids] + factors @ self.basis[:, n + ids], 0.0, 1.0)
        largest = expected.max()
        return prior if largest <= 0 else replace(prior, expected=expected / largest)


ARMS: dict[str, Callable[[], Arm]] = {
    "guided": lambda: guided,
    "ranked": lambda: ranked,
    "agreement": lambda: partial(guided, near_by="unlikeness"),
    "trusting": lambda: partial(guided, doubt_by="unlikeness"),
    "both": lambda: partial(guided, near_by="unlikeness", doubt_by="unlikeness"),
    "neighbours": LearnedNeighbours,
    "features": LearnedFeatures,
    "boosting": lambda: LearnedFeatures(boosting),
    "moses": lambda: LearnedFeatures(Programs),
    "factors": LearnedFactors,
}


def related(stream: Stream, i: int, others: Array) -> Array:
    """Return what is known of a problem's relation to others before it is solved."""
    d, cosine = stream.distance[i, others], stream.cosine[i, others]
    alike = (stream.correlation[i, others], stream.common[i, others])
    return np.column_stack([d, cosine, *alike, d**2, cosine**2])


def known_of_features(memory: Memory, i: int, prior: Prior) -> Array:
    """Return a row for each feature: its own score, and what memory says of it in several ways."""
    stream, ids, solved = memory.stream, memory.stream.ids[i], np.array(memory.solved)
    own, rows = stream.relative[i, ids], solved[:, None]
    rank = np.argsort(np.argsort(-own, kind="stable"))
    has, relative = stream.has[rows, ids], stream.relative[rows, ids]
    chosen = memory.selected[rows, ids]
    near, alike = 1.0 - stream.distance[i, solved], stream.cosine[i, solved]
    columns = [own, np.sqrt(own), np.log1p(rank), prior.expected, prior.expected * own]
    for w in (near**2, near**6, alike**2, alike**6, np.ones(len(solved))):
        total = w @ has + 0.5 * w.max() + 1e-9
        columns += [w @ chosen / total, w @ relative / total]
    order = np.argsort(-near, kind="stable")
    columns += [chosen[order[:k]].mean(axis=0) for k in (1, 3, 8)]
    return np.column_stack([*columns, np.log1p(has.sum(axis=0))])


def known_of_problem(memory: Memory, i: int, prior: Prior) -> Array:
    """Return what is known of a problem itself before it is solved."""
    stream, ids = memory.stream, memory.stream.ids[i]
    own, near = stream.relative[i, ids], np.sort(stream.distance[i, memory.solved])[:NEIGHBOURS]
    shares = [np.mean(own > share) for share in (0.1, 0.3, 0.6)]
    return np.array(
        [np.log(len(ids)), np.log(own.mean() + 1e-9), *shares, near[0], near.mean(), prior.size]
    )


def run(stream: Stream, order: Array, arm: Arm) -> Array:
    """Return for each problem: log of the speed-up, whether the target was reached, seconds."""
    memory, results = Memory(stream), {}
    for i in order.tolist():
        (n_cold, target), problem, began = stream.cold[i], stream.problems[i], perf_counter()
        prior = arm(memory, i)
        seconds = perf_counter() - began
        climb = Climb(max_evaluations=stream.budget, random_state=0, target_score=target)
        climb.fit(problem.X, problem.y, prior=prior)
        memory.add(i, climb.support_)
        reached = climb.fitness_ >= target - 1e-11
        results[i] = np.log(n_cold / climb.n_evaluations_), reached, seconds
    return np.array([results[i] for i in sorted(results)])


def interval(logs: Array) -> str:
    """Return the geometric mean of a ratio and its 95 % interval, from its log on each problem."""
    draws = np.random.default_rng(0).integers(len(logs), size=(5000, len(logs)))
    low, high = np.exp(np.percentile(logs[draws].mean(axis=1), [2.5, 97.5]))
    return f"{np.exp(logs.mean()):.2f} ({low:.2f} to {high:.2f})"


def compare(stream: Stream, arms: Sequence[str], seeds: Sequence[int]) -> None:
    """Print a row for each arm, over the same orders of the stream."""
    n = len(stream.problems)
    orders = [np.random.default_rng(seed).permutation(n) for seed in seeds]
    logs_of_guided = None
    for arm in dict.fromkeys(["guided", *arms]):
        each = np.array([run(stream, order, ARMS[arm]()) for order in orders])
        logs, reached, seconds = each.transpose(2, 0, 1)
        if logs_of_guided is None:
            logs_of_guided = logs
        against = interval((logs - logs_of_guided).mean(axis=0)) if arm != "guided" else ""
        print(
            f"| {stream.name} | {n} | {arm} | {np.exp(logs.mean()):.2f} | {against} | "
            f"{reached.mean():.1%} | {np.mean(logs < 0):.1%} | {1000 * seconds.mean():.1f} |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", metavar="FOLDER", nargs="+")
    parser.add_argument("--budget", type=int, default=1000)
    parser.add_argument("--orders", type=int, default=2)
    parser.add_argument("--first-order", type=int, default=1, help="seed of the first order")
    parser.add_argument("--part", type=int, help="problems to draw from each stream (all)")
    parser.add_argument("--arms", nargs="+", choices=ARMS, default=list(ARMS))
    options = parser.parse_args()
    print("| stream | problems | arm | speed-up | against guided | reached | slower | ms |")
    print("|---|--:|---|--:|--:|--:|--:|--:|")
    for folder in options.folders:
        try:
            stream = Stream(folder, options.budget, options.part)
        except MetafsError as error:
            sys.exit(f"learned_recall: {error}")
        compare(
            stream, options.arms, range(options.first_order, options.first_order + options.orders)
        )


if __name__ == "__main__":
    main()
