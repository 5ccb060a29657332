"""Scores of candidates on the folds of a problem, each computed once.

The ranking of a selector is made from the training rows of a fold only, and serves every size and
every learner there.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor

from metafs.data.problem import Problem
from metafs.data.typing import Array
from metafs.errors import describe
from metafs.pipeline.choice.candidates import ALL, Candidate
from metafs.pipeline.choice.costs import seconds_on
from metafs.pipeline.events import Event, emit, is_heard
from metafs.pipeline.fitting.parameters import of_rows
from metafs.pipeline.fitting.plugin_errors import naming_plugin
from metafs.pipeline.fitting.scoring import score_on
from metafs.pipeline.fitting.selection import Selection, configured, select
from metafs.plugin.prior import Prior
from metafs.stats.folds import Fold, n_independent
from metafs.stats.scorers import best_possible, over_folds, scorer_named

COMPARING = "comparing pipelines"
SLOWER = 1.25
"""How much longer a fit to all rows takes than one to the rows of four folds of five."""
DEEPEST = 64
"""A ranking is asked for this many columns; the others follow by the selector's scores."""


class PluginFailure(Exception):
    """A selector or a learner failed on a fold, and is left out of the choice."""

    def __init__(self, kind: str, name: str, error: Exception) -> None:
        super().__init__(f"{kind} {name!r} failed and was left out: {describe(error)}")
        self.name = name


@dataclass(eq=False)
class Evaluation:
    """A problem with its folds, and every score that was computed on them."""

    problem: Problem
    folds: Sequence[Fold]
    selectors: Mapping[str, Any]
    learners: Mapping[str, Any]
    scoring: str
    prior: Prior | None = None
    """What memory expects of the columns."""
    fold_prior: Prior | None = None
    """The same without problems that may hold rows of the test folds."""
    keep: Sequence[int] = ()
    seed: int | None = 0
    until: float | None = None
    """When the answer is due, by `time.perf_counter`; None leaves all the time that it takes."""
    is_late: bool = False
    """Whether some candidate could not be tried in time."""
    scores: dict[Candidate, dict[int, float]] = field(default_factory=dict)
    """By candidate and number of the fold."""
    failures: dict[str, str] = field(default_factory=dict)
    """Selectors and learners that failed, with a sentence; all they offer counts as guessing."""
    seconds: dict[tuple[Candidate, int], float] = field(default_factory=dict)
    _selections: dict[tuple[str, bool, int | None], Selection] = field(default_factory=dict)

    def score(self, candidate: Candidate, fold: int) -> float:
        """Return the score of a candidate on the test rows of a fold."""
        known = self.scores.setdefault(candidate, {})
        if fold not in known:
            if self.failures.keys() & {candidate.selector, candidate.learner}:
                known[fold] = float(self._guesses[fold])
                return known[fold]
            started = perf_counter()
            try:
                known[fold] = self.score_by(self.scoring, candidate, fold)
            except PluginFailure as failure:
                self.failures[failure.name] = str(failure)
                return self.score(candidate, fold)
            self.seconds[candidate, fold] = perf_counter() - started
            if is_heard():
                best = max(self.means.values(), default=None)
                emit(Event(self.problem.name, COMPARING, len(self.scored), best))
        return known[fold]

    def score_by(self, scoring: str, candidate: Candidate, fold: int) -> float:
        """Return the score of a candidate on a fold by any scorer; nothing of it is kept.

        Raises
        ------
        PluginFailure
            Its selector or its learner failed, and others can be chosen.
        """
        train, test = self.folds[fold]
        learner, scorer = self.learners[candidate.learner], scorer_named(scoring)
        needed = candidate.selector != ALL and candidate.size is None  # it was asked for by name
        with self._blaming("selector", candidate.selector, needed=needed):
            columns = self.columns(candidate, fold)
        needed = candidate.learner == next(iter(self.learners))  # the default's
        with self._blaming("learner", candidate.learner, needed=needed):
            return score_on(
                self.problem, columns, learner, scorer, train, test, self.fold_prior, scoring
            )

    @contextmanager
    def _blaming(self, kind: str, name: str, *, needed: bool) -> Iterator[None]:
        """Tell which plugin failed; where nothing can be chosen without it, the problem fails."""
        try:
            yield
        except Exception as error:
            if needed:
                with naming_plugin(kind, name, self.problem):
                    raise
            raise PluginFailure(kind, name, error) from error

    def in_time(self, candidate: Candidate, n_folds: int = 1) -> bool:
        """Tell whether a candidate can be scored on so many folds, and one be fitted at last."""
        if self.until is None:
            return True
        one = self.expected_seconds(candidate)
        last = max([one, *map(self.expected_seconds, self.complete)])
        in_time = perf_counter() + n_folds * one + SLOWER * last < self.until
        self.is_late |= not in_time
        return in_time

    def expected_seconds(self, candidate: Candidate) -> float:
        """Return what scoring a candidate on a fold is expected to take.

        If its learner was not tried yet, that is a rough estimate, which is corrected by how long
        what was tried took on this machine.
        """
        known = [
            seconds
            for (each, _), seconds in self.seconds.items()
            if each.learner == candidate.learner
        ]
        if known:
            return max(known)
        took = sum(self.seconds.values())
        thought = sum(self.rough_seconds(each) for each, _ in self.seconds)
        return self.rough_seconds(candidate) * (max(took / thought, 1.0) if thought else 1.0)

    def rough_seconds(self, candidate: Candidate) -> float:
        """Return what ranking and fitting take by what selector and learner say themselves."""
        return seconds_on(self.problem, candidate, self.selectors, self.learners)

    def mean(self, candidate: Candidate) -> float:
        """Return the mean score of a candidate over all folds; errors add up."""
        scores = [self.score(candidate, fold) for fold in range(len(self.folds))]
        return over_folds(self.scoring, scores)

    @property
    def means(self) -> dict[Candidate, float]:
        """The mean score of each candidate that was scored on every fold."""
        return {candidate: self.mean(candidate) for candidate in self.complete}

    @property
    def success(self) -> dict[Candidate, dict[int, float]]:
        """Scores between no skill (0) and the best there is (1), by candidate and fold.

        R2 is in units of the spread of the target in a fold, which is very small in some folds of
        few rows. So it is put into units of the mean spread: the mean over folds is then the R2 of
        the test rows of all folds together.
        """
        units = self._units
        floor = float(np.mean(self._guesses * units))
        span = best_possible(self.scoring) - floor
        return {
            candidate: {
                fold: (score * units[fold] - floor) / span for fold, score in by_fold.items()
            }
            for candidate, by_fold in self.scores.items()
        }

    @cached_property
    def _units(self) -> Array:
        """The unit of the score in each fold."""
        if self.scoring != "r2":
            return np.ones(len(self.folds))
        spreads = np.array(
            [float(self.problem.y[test].var()) * len(test) for _, test in self.folds]
        )
        return np.asarray(spreads / spreads.mean()) if spreads.any() else np.ones(len(self.folds))

    @property
    def scored(self) -> set[Candidate]:
        """The candidates that were scored on some fold."""
        return {candidate for candidate, by_fold in self.scores.items() if by_fold}

    @property
    def complete(self) -> set[Candidate]:
        """The candidates that were scored on every fold."""
        n_folds = len(self.folds)
        return {each for each, by_fold in self.scores.items() if len(by_fold) == n_folds}

    @cached_property
    def rows_of_a_fold(self) -> dict[str, float]:
        """How many independent test and training rows a fold has, on average."""
        sizes = [[n_independent(self.problem, rows) for rows in fold] for fold in self.folds]
        n_train, n_test = np.mean(sizes, axis=0).tolist()
        return {"n_test": n_test, "n_train": n_train}

    @cached_property
    def n_scored(self) -> float:
        """How many independent rows are tested on, in all folds together."""
        return self.rows_of_a_fold["n_test"] * len(self.folds)

    @cached_property
    def weight_tested(self) -> float:
        """The weight of all rows that are tested on; their number if they have no weights."""
        weight = self.problem.sample_weight
        return float(sum(len(t) if weight is None else weight[t].sum() for _, t in self.folds))

    @cached_property
    def no_skill(self) -> float:
        """What guessing scores, on average over folds; errors add up."""
        return over_folds(self.scoring, self._guesses.tolist())

    @cached_property
    def _guesses(self) -> Array:
        """What guessing scores in each fold."""
        guess = DummyClassifier() if self.problem.is_classification else DummyRegressor()
        scorer, one = scorer_named(self.scoring), np.arange(1)
        return np.array([score_on(self.problem, one, guess, scorer, *rows) for rows in self.folds])

    def columns(self, candidate: Candidate, fold: int | None) -> Array:
        """Return the columns that a candidate keeps, by the training rows of a fold or all rows.

        Columns that are always kept count towards its size.
        """
        if candidate.selector == ALL:
            return np.arange(self.problem.n_features)
        selection = self.selection(candidate.selector, fold, sized=candidate.size is not None)
        if candidate.size is None:
            return np.flatnonzero(selection.selected)
        kept = np.unique(np.asarray(self.keep, dtype=np.int64))
        best_first = np.setdiff1d(
            np.argsort(selection.ranking, kind="stable"), kept, assume_unique=True
        )
        return np.union1d(kept, best_first[: max(0, candidate.size - len(kept))])

    def selection(self, selector: str, fold: int | None, *, sized: bool) -> Selection:
        """Return what a selector makes of the training rows of a fold, or of all rows if None.

        Unless it is `sized` it decides itself how many columns to select.
        """
        key = (selector, sized, fold)
        if key not in self._selections:
            problem = self.problem
            rows = slice(None) if fold is None else self.folds[fold][0]
            size = {"n_features_to_select": min(DEEPEST, problem.n_features)} if sized else {}
            settings: dict[str, Any] = {
                "random_state": self.seed,
                "categorical_features": None,
                **size,
            }
            if problem.categories:
                settings["categorical_features"] = sorted(problem.categories)
            self._selections[key] = select(
                configured(self.selectors[selector], settings),
                problem.X[rows],
                problem.y[rows],
                prior=self.prior if fold is None else self.fold_prior,
                meta_features=problem.meta_features,
                X_unlabelled=problem.X_unlabelled,
                keep=self.keep,
                categorical=problem.categories,
                **of_rows(problem, rows),
            )
        return self._selections[key]
