"""Expect: derive the priors of one problem from what memory holds of its neighbours."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from metafs.data.problem import Problem
from metafs.data.typing import Array
from metafs.memory import FeatureExperience, LearnerCandidate, Neighbour
from metafs.memory.memory import Memory
from metafs.memory.weights import ModelHistory
from metafs.pipeline.fitting.learner_candidates import programs_for
from metafs.pipeline.fitting.parameters import takes
from metafs.pipeline.fitting.plugin_errors import naming_plugin
from metafs.pipeline.fitting.selection import takes_prior
from metafs.pipeline.plan import DEFAULT_REGRESSOR, Plan
from metafs.plugin.prior import Prior
from metafs.transfer.expectation import Experience, expect, unseen_features
from metafs.transfer.meta_regression import meta_regression


def own_prior(plan: Plan, n_features: int) -> Prior | None:
    """Return the prior of a transfer without memory, or None for the other transfers."""
    rule = plan.transfer
    if rule is None or rule.remembers or not takes_prior(plan.selector):
        return None
    return expect([], [""] * n_features, rule)


class Expecting:
    """Derives priors from the neighbours of one problem.

    Problems called `exclude_name` are left out; those of `sharing` hold some of its rows.
    """

    def __init__(
        self,
        problem: Problem,
        plan: Plan,
        memory: Memory,
        exclude_name: str | None,
        near: Sequence[Neighbour],
        learning: bool,
        sharing: Collection[int],
    ) -> None:
        self.problem, self.plan, self.sharing = problem, plan, sharing
        self.meta_regression = UnseenFeatures(problem, plan, memory, exclude_name)
        sources = [None, problem.source] if learning else [None]
        guides = plan.transfer is not None and plan.transfer.guides
        asked = sources if guides else []
        self.near, found = memory.remembered(problem, near, asked, exclude_name=exclude_name)
        self.histories = dict(zip(asked, found, strict=True))
        _, learner = plan.learners[problem.is_classification]
        self.programs = dict[int, list[LearnerCandidate]]()
        if plan.transfer is not None and plan.transfer.models and takes(learner, "programs"):
            self.programs = memory.learner_candidates([each.problem_id for each in near])

    def __call__(self, exclude_source: str | None, history: ModelHistory | None) -> Prior | None:
        """Return the prior; for the folds, without problems of a source and those that share rows.

        Selection frequencies count all problems, so they are left out where some share rows.
        """
        sharing = self.sharing if exclude_source is not None else ()
        near = [
            each
            for each in self.near
            if each.problem_id not in sharing
            and (exclude_source is None or each.source != exclude_source)
        ]
        prior = expect(
            near,
            self.problem.feature_names,
            self.plan.transfer,
            self.plan.settings.threshold,
            predicted=self.meta_regression(near, exclude_source),
            history=None if sharing else self.histories.get(exclude_source),
            c=self.plan.settings.c,
        )
        if prior is not None and self.programs:
            kept = (each for at in near for each in self.programs.get(at.problem_id, ()))
            prior = replace(prior, programs=programs_for(self.problem, kept))
        rule = self.plan.transfer
        if history is None or rule is None or not rule.models:
            return prior
        if prior is None:
            prior = Prior(np.zeros(self.problem.n_features))
        return replace(
            prior,
            relevance=history.relevance,
            relevance_sources=history.sources,
            weights=history.weights,
        )


class UnseenFeatures:
    """Meta-regression for one problem, if it has features that no neighbour had."""

    def __init__(
        self, problem: Problem, plan: Plan, memory: Memory, exclude_name: str | None
    ) -> None:
        self.problem, self.plan, self.memory = problem, plan, memory
        self.exclude_name = exclude_name
        self._before: tuple[FeatureExperience, Array | None] | None = None

    def __call__(self, near: Sequence[Experience], exclude_source: str | None) -> Array | None:
        """Return the expectation of each feature, or None if it cannot be predicted.

        Problems of `exclude_source` are left out, as they are in `near`.
        """
        problem, rule = self.problem, self.plan.transfer
        if rule is None or not rule.predicts:
            return None
        if problem.meta_features is None or self.plan.regressor is None:
            return None
        if not len(unseen_features(near, problem.feature_names)):
            return None
        outcomes = self.memory.feature_experience(
            problem, exclude_name=self.exclude_name, exclude_source=exclude_source
        )
        if self._before is not None and outcomes.equals(self._before[0]):
            return self._before[1]  # the same training data give the same regression
        name = self.plan.settings.regressor or DEFAULT_REGRESSOR
        with naming_plugin("regressor", name, problem):
            found = meta_regression(
                outcomes,
                rule.worth(outcomes),
                problem.meta_features,
                problem.meta_feature_names,
                self.plan.regressor,
            )
        self._before = outcomes, None if found is None else found.expected
        return self._before[1]
