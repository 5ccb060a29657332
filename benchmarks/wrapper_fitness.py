"""cv-accuracy: time of an evaluation, what abandoning saves in a climb, and which learner to wrap.

    python benchmarks/wrapper_fitness.py 20newsgroups.jsonl.gz [N_PAIRS]

The peer of an evaluation is scikit-learn's `cross_val_score` with the same learner on the same
folds, the columns already chosen and dense. Climbs with and without abandoning must end with the
same set, fitness and evaluations. One thread, and seconds of the processor rather than of the
clock, so that others at work on the machine change little. Tables grow line by line.
"""

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import sys
import warnings
from time import process_time

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from text_stream import text_pairs

from metafs import Problem, Registry
from metafs.data.readers import ReadOptions, sources
from metafs_climb import Climb, CVAccuracy, MIConfidence, fold_scores
from metafs_climb.newton_logistic import decisions

LEARNERS = Registry().learners
TO_THE_END = make_pipeline(
    StandardScaler(with_mean=False), LogisticRegression(solver="newton-cholesky", tol=1e-12)
)
N_SETS = 60


def digit_pairs(n):
    return [source.read() for source in sources(["demo:digits"], ReadOptions())[:: 45 // n][:n]]


def time_of_evaluations(name, problem, learner, sizes=(1, 5, 20)):
    """Ours against the peer on sets drawn from the 200 best features."""
    best = np.argsort(-MIConfidence()(problem.X, problem.y))[:200]
    evaluator = CVAccuracy(learner).bind(problem.X, problem.y)
    tables, rng = evaluator.scores.tables, np.random.default_rng(0)
    X, y = tables.problem.X, tables.problem.y

    def peer(features, estimator):
        chosen = X[:, features] if isinstance(X, np.ndarray) else X[:, features].toarray()
        started = process_time()
        found = cross_val_score(estimator, chosen, y, cv=tables.folds).mean()
        return process_time() - started, found

    for size in sizes:
        # All different: a set seen before would cost us nothing.
        drawn = {tuple(sorted(rng.choice(best, size, replace=False))): None for _ in range(1000)}
        sets = [np.array(each) for each in list(drawn)[:N_SETS]]
        started = process_time()
        ours = np.array([evaluator.of_set(features) for features in sets])
        fast = (process_time() - started) / len(sets)
        spent, theirs = zip(*(peer(each, LEARNERS[learner]) for each in sets), strict=True)
        slow = np.mean(spent)
        same = np.isclose(ours, theirs, atol=1e-12)
        if learner == "logistic":
            solved = [peer(features, TO_THE_END)[1] for features in sets]
            assert np.allclose(ours, solved, atol=1e-12), "the same regression, solved to the end"
        else:
            assert same.all()
        print(
            f"| {name} | {learner} | {size} | {slow * 1e3:.1f} | {fast * 1e3:.2f} "
            f"| {slow / fast:.1f} | {same.sum()} of {len(sets)} |",
            flush=True,
        )


def next_to_a_large_set(name, problem, sizes=(20, 64)):
    """Sets that differ in one feature from the set a search stands on, which is known."""
    best = np.argsort(-MIConfidence()(problem.X, problem.y))
    for size in sizes:
        evaluator = CVAccuracy("logistic").bind(problem.X, problem.y)
        rows, base = evaluator.scores._rows, np.sort(best[:size])
        X, y = evaluator.scores.tables.problem.X, evaluator.scores.tables.problem.y
        X = X if isinstance(X, np.ndarray) else X.toarray()
        evaluator.of_set(base)
        changed = np.concatenate([best[size : size + 16], best[: min(size, 16)]])
        started = process_time()
        ours = evaluator.of_sets(base, changed[:, None])
        fast = process_time() - started
        sets = [np.setxor1d(base, [j]) for j in changed]
        started = process_time()
        for features in sets:
            decisions(X[:, features], rows.n_in, rows.n_one, rows.C, rows.scaled)
        newton = process_time() - started
        started = process_time()
        for features in sets:
            cross_val_score(LEARNERS["logistic"], X[:, features], y, cv=rows.tables.folds)
        peer = process_time() - started
        solved = [
            cross_val_score(TO_THE_END, X[:, features], y, cv=rows.tables.folds).mean()
            for features in sets
        ]
        assert np.allclose(ours, solved, atol=1e-12), "the same regression, solved to the end"
        print(
            f"| {name} | {size} | {fast / len(sets) * 1e3:.2f} | {newton / fast:.1f} "
            f"| {peer / fast:.1f} |",
            flush=True,
        )


class Watched:
    """A measure that counts fits, and may pass the best fitness so far to its evaluator."""

    def __init__(self, measure, passes_best):
        self.measure, self.passes_best, self.best, self.n_fits = measure, passes_best, -np.inf, 0
        self.of_set = measure.of_set

    def bind(self, X, y):
        self.evaluator = self.measure.bind(X, y)
        scores = self.evaluator.scores
        of_fold, at_once = scores.of_fold, scores.at_once

        def counting(*arguments):
            self.n_fits += 1
            return of_fold(*arguments)

        def counting_all(*arguments):
            found = at_once(*arguments)
            self.n_fits += found.size
            return found

        scores.of_fold, scores.at_once = counting, counting_all
        return self

    def of_sets(self, base, edits):
        found = self.evaluator.of_sets(base, edits, above=self.best if self.passes_best else None)
        self.best = max(self.best, found.max(initial=-np.inf))
        return found

    def of_each(self):
        # The scores of single features are no part of the search.
        return np.zeros(self.evaluator.n_features)


def climbs(name, problems, learner, budget):
    """Whole climbs with and without abandoning."""
    seconds, n_fits, n_evaluations = np.zeros(2), np.zeros(2), 0
    for problem in problems:
        ended = []
        for passes_best in (False, True):
            measure = Watched(CVAccuracy(learner), passes_best)
            started = process_time()
            climb = Climb(measure, max_evaluations=budget, random_state=0)
            climb.fit(problem.X, problem.y)
            seconds[int(passes_best)] += process_time() - started
            n_fits[int(passes_best)] += measure.n_fits
            ended.append((tuple(climb.get_support()), climb.fitness_, climb.n_evaluations_))
        assert ended[0] == ended[1], "abandoning changed a decision"
        n_evaluations += ended[0][2]
    print(
        f"| {len(problems)} {name} | {learner} | {budget} | {n_evaluations / len(problems):.0f} "
        f"| {n_fits[0] / n_evaluations:.2f} | {n_fits[1] / n_evaluations:.2f} "
        f"| {seconds[0] / len(problems):.2f} | {seconds[1] / len(problems):.2f} "
        f"| {seconds[0] / seconds[1]:.2f} |",
        flush=True,
    )


def rows_or_cells(name, problem, n_start, budget):
    """A climb whose large sets are fitted by rows, as they are, and one that fits all by cells."""
    prior, few = None, fold_scores.FEW
    if n_start:
        prior = np.zeros(problem.n_features)
        prior[np.argsort(-MIConfidence()(problem.X, problem.y))[:n_start]] = 0.5
    seconds, ended = {few: [], sys.maxsize: []}, set()
    for _ in range(2):
        for fold_scores.FEW in seconds:
            climb = Climb(CVAccuracy("logistic"), max_evaluations=budget, random_state=0)
            started = process_time()
            climb.fit(problem.X, problem.y, prior=prior)
            seconds[fold_scores.FEW].append(process_time() - started)
            ended.add((tuple(np.flatnonzero(climb.get_support())), climb.n_evaluations_))
    fold_scores.FEW = few
    assert len(ended) == 1, "rows and cells differ"
    ((features, _),) = ended
    rows, cells = map(min, seconds.values())
    print(
        f"| {name} | {n_start} | {budget} | {len(features)} | {cells:.2f} | {rows:.2f} "
        f"| {cells / rows:.1f} |",
        flush=True,
    )


def halves(problem):
    """100 documents a class to select and train with, and all the others to test on."""
    rng = np.random.default_rng(0)
    drawn = [rng.permutation(np.flatnonzero(problem.y == c)) for c in (0, 1)]
    return (np.concatenate([d[:100] for d in drawn]), np.concatenate([d[100:] for d in drawn]))


def held_out(problem: Problem, selected, learner):
    train, test = halves(problem)
    X = problem.X[:, np.flatnonzero(selected)].toarray()
    model = clone(LEARNERS[learner]).fit(X[train], problem.y[train])
    return np.mean(model.predict(X[test]) == problem.y[test])


def which_learner(problems, budget):
    """Climb on each fitness, then learn from the selected words and test on other documents."""
    measures = {
        "cv-accuracy, logistic": lambda: Watched(CVAccuracy("logistic"), passes_best=True),
        "cv-accuracy, naive-bayes": lambda: Watched(CVAccuracy("naive-bayes"), passes_best=True),
        "mi-confidence": MIConfidence,
    }
    for name, measure in measures.items():
        rows = []
        for problem in problems:
            train, _ = halves(problem)
            started = process_time()
            climb = Climb(measure(), max_evaluations=budget, random_state=0)
            climb.fit(problem.X[train], problem.y[train])
            selected, spent = climb.get_support(), process_time() - started
            scores = [held_out(problem, selected, each) for each in ("logistic", "naive-bayes")]
            rows.append((climb.fitness_, selected.sum(), *scores, spent))
        fitness, words, logistic, bayes, spent = np.mean(rows, axis=0)
        print(
            f"| {name} | {fitness:.3f} | {words:.1f} | {100 * logistic:.1f} | {100 * bayes:.1f} "
            f"| {spent:.2f} |",
            flush=True,
        )


def main():
    n_pairs = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    texts = text_pairs(sys.argv[1], documents=150, mi=0.02, pairs=n_pairs)
    digits = digit_pairs(n_pairs)
    print("| climb on | features to start from | budget | selected | cells s | rows s | ratio |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for n_start, budget in ((0, 1_000), (0, 5_000), (40, 1_000)):
        rows_or_cells("text", texts[0], n_start, budget)
        rows_or_cells("digits", digits[0], n_start, budget)
    print("\n| problem | learner | features | peer ms | ours ms | ratio | same value |")
    print("|---|---|--:|--:|--:|--:|--:|")
    for learner in ("logistic", "naive-bayes"):
        time_of_evaluations(f"text, {texts[0].n_samples} rows", texts[0], learner)
        time_of_evaluations(f"digits, {digits[0].n_samples} rows", digits[0], learner)
    print("\n| problem | features | ours ms | newton | peer |")
    print("|---|--:|--:|--:|--:|")
    next_to_a_large_set("text", texts[0])
    next_to_a_large_set("digits", digits[0], sizes=(20, 40))
    print("\n| climbs | learner | budget | evaluations | fits each | abandoning | s | s | ratio |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|")
    for learner in ("logistic", "naive-bayes"):
        climbs("text pairs", texts, learner, 1000)
        climbs("digit pairs", digits, learner, 1000)
    print("\n| climb on | fitness | words | logistic % | naive-bayes % | s |")
    print("|---|--:|--:|--:|--:|--:|")
    which_learner(text_pairs(sys.argv[1], documents=250, mi=0.0, pairs=n_pairs), 1000)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a learner mutters about constant columns
        main()
