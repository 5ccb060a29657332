"""The selector ``auto``: keep the columns of the pipeline that is chosen, as any other selector."""

from typing import Any, Self

import numpy as np

from metafs.data.problem import Problem
from metafs.data.typing import Array, Matrix
from metafs.errors import NoScore
from metafs.pipeline.choice.choosing import choose
from metafs.pipeline.choice.contest import contest_of
from metafs.pipeline.choice.portfolio import shipped
from metafs.pipeline.choice.rows import sampled
from metafs.plugin.prior import Prior
from metafs.plugin.ranking import ranking
from metafs.plugin.registry import Registry
from metafs.plugin.selector import BaseSelector
from metafs.stats.scorers import default_scoring


class AutoSelector(BaseSelector):
    """Keep the columns of the pipeline that is chosen for the table.

    Parameters
    ----------
    max_seconds : float, default=None
        How long the race between pipelines may take.
    random_state : int or None, default=0
        How rows are divided into folds.

    Attributes
    ----------
    choice_ : Choice or None
        The pipeline that was chosen and all that were tried; None if the rows cannot be divided
        into folds, so that every column is kept.
    scores_ : ndarray of shape (n_features,)
        1 for columns that are kept.
    ranking_ : ndarray of shape (n_features,)
    n_evaluations_ : int
        Pipelines that were scored, times folds.
    stopped_ : str
    """

    def __init__(self, *, max_seconds: float | None = None, random_state: Any = 0) -> None:
        self.max_seconds = max_seconds
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        prior: Any = None,
        meta_features: Any = None,
        task: str = "auto",
        groups: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Select features of X, with what is known of rows.

        Parameters
        ----------
        X, y, prior, meta_features, task
            As for any selector.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group are never divided between folds.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts.
        """
        self._of_rows = {"groups": groups, "sample_weight": sample_weight}
        super().fit(X, y, prior=prior, meta_features=meta_features, task=task)
        del self._of_rows
        return self

    def _fit(self, X: Matrix, y: Array, prior: Prior | None) -> None:
        problem = Problem.of(X, y, leave_out="nothing", **self._of_rows)
        problem = sampled(problem, self.random_state)
        contest = contest_of(Registry(), selector=None, learner=None)
        self._support = np.ones(problem.n_features, dtype=bool)
        self.choice_, self.n_evaluations_ = None, 0
        self.stopped_ = "the rows cannot be divided into folds"
        try:
            self.choice_ = choose(
                problem,
                contest.candidates(problem),
                selectors=contest.selectors,
                learners=contest.learners,
                scoring=default_scoring(problem),
                past=shipped(problem),
                prior=prior,
                fold_prior=prior,
                seed=self.random_state,
                seconds=self.max_seconds,
            )
        except NoScore:
            pass
        else:
            self._support[:] = False
            self._support[self.choice_.columns] = True
            self.n_evaluations_ = len(self.choice_.evaluation.seconds)
            self.stopped_ = self.choice_.stopped
        self.scores_ = self._support.astype(np.float64)
        self.ranking_ = ranking(self.scores_)

    def _get_support_mask(self) -> Array:
        return self._support
