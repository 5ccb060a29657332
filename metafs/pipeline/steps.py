"""The steps of the loop, as functions of plain values.

describe -> recall -> expect      need memory, and run where the MetaDB is
select -> learn                   need only the problem and the prior, and run anywhere
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from time import perf_counter
from typing import Any

from metafs.data.problem import Problem
from metafs.data.typing import Array
from metafs.errors import MetafsError, NoScore, ProblemError, describe
from metafs.memory import FeatureExperience, FeatureRecord, Neighbour
from metafs.memory.memory import Described, Memory
from metafs.pipeline.scoring import Scores, confidence_of, learn, qualities
from metafs.pipeline.selection import Selection, select, takes_prior
from metafs.pipeline.settings import DEFAULT_REGRESSOR, Plan
from metafs.plugin.prior import Prior
from metafs.transfer.expectation import TRANSFERS, Experience, expect, strangers
from metafs.transfer.meta_regression import judge


def utc_now() -> datetime:
    """Return the time as the MetaDB keeps it: UTC, without saying so."""
    return datetime.now(UTC).replace(tzinfo=None)


@dataclass(frozen=True, eq=False)
class Prepared:
    """A problem with what memory says of it, ready to be worked on."""

    problem: Problem
    plan: Plan
    described: Described | None = None
    """None when the problem has no space: nobody could be compared with it."""
    neighbours: tuple[Neighbour, ...] = ()
    prior: Prior | None = None
    fold_prior: Prior | None = None
    """The prior without neighbours of the same source: these may hold rows of the test folds."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    checked: bool = False
    """Whether to search cold too, and to tell what memory saved."""
    started_at: datetime = field(default_factory=utc_now)


@dataclass(frozen=True, eq=False)
class Worked:
    """A problem's selection, what a learner reached with it, and each feature's quality."""

    selection: Selection
    scores: Scores | None
    quality: Array
    seconds: Mapping[str, float]
    cold: tuple[Selection, float] | None = None
    """What a cold search found, and its seconds, where memory was checked."""
    notes: tuple[str, ...] = ()
    """Why a figure is missing."""


class Stopwatch:
    """Seconds by phase."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        """Count what the block takes towards a phase."""
        started = perf_counter()
        try:
            yield
        finally:
            self.seconds[phase] = self.seconds.get(phase, 0.0) + perf_counter() - started


def prepare(
    problem: Problem,
    plan: Plan,
    memory: Memory | None,
    *,
    exclude_name: str | None = None,
    learning: bool = True,
) -> Prepared:
    """Describe a problem, recall the nearest solved ones, and expect something of its features.

    Problems called `exclude_name` are not recalled. Only who goes on to learn needs a prior for
    the folds.
    """
    settings, clock = plan.settings, Stopwatch()
    rule = TRANSFERS[settings.transfer]
    prior = fold_prior = own_prior(plan, problem.n_features)
    if memory is None or problem.space is None:
        return Prepared(problem, plan, prior=prior, fold_prior=fold_prior)
    with clock("describe"), blaming("distance", settings.distance, problem):
        described = memory.describe(problem, settings.distance, settings.project)
    near: list[Neighbour] = []
    if rule is not None and rule.remembers:
        with clock("recall"):
            near = memory.recall(problem, described, settings.neighbours, exclude_name=exclude_name)
        with clock("expect"):
            if takes_prior(plan.selector):
                sources = [None, problem.source] if learning else [None]
                asked = sources if rule.guides else []
                told, found = memory.remembered(problem, near, asked, exclude_name=exclude_name)
                records = dict(zip(asked, found, strict=True))
                expecting = Expecting(problem, plan, memory, exclude_name, records)
                prior = expecting(told, None)
                if learning:
                    elsewhere = [each for each in told if each.source != problem.source]
                    fold_prior = expecting(elsewhere, problem.source)
    return Prepared(problem, plan, described, tuple(near), prior, fold_prior, clock.seconds)


def own_prior(plan: Plan, n_features: int) -> Prior | None:
    """Return the prior of a transfer that asks nothing of memory, if the plan's is one."""
    rule = TRANSFERS[plan.settings.transfer]
    if rule is None or rule.remembers or not takes_prior(plan.selector):
        return None
    return expect([], [""] * n_features, plan.settings.transfer)


class Expecting:
    """Turns what memory told of one problem's neighbours into a prior.

    `records` tell how its features did elsewhere, by the source that is left out. Problems called
    `exclude_name` have no say in that either.
    """

    def __init__(
        self,
        problem: Problem,
        plan: Plan,
        memory: Memory,
        exclude_name: str | None,
        records: Mapping[str | None, FeatureRecord],
    ) -> None:
        self.problem, self.plan = problem, plan
        self.judge = Judge(problem, plan, memory, exclude_name)
        self.records = records

    def __call__(self, told: Sequence[Experience], exclude_source: str | None) -> Prior | None:
        """Return the prior, without a say for problems of `exclude_source`."""
        settings = self.plan.settings
        return expect(
            told,
            self.problem.feature_names,
            settings.transfer,
            settings.threshold,
            judged=self.judge(told, exclude_source),
            record=self.records.get(exclude_source),
        )


class Judge:
    """Judges the features of one problem by their meta-features, if some are new to neighbours."""

    def __init__(
        self, problem: Problem, plan: Plan, memory: Memory, exclude_name: str | None
    ) -> None:
        self.problem, self.plan, self.memory = problem, plan, memory
        self.exclude_name = exclude_name
        self._before: tuple[FeatureExperience, Array | None] | None = None

    def __call__(self, told: Sequence[Experience], exclude_source: str | None) -> Array | None:
        """Return what to expect of each feature, or None where memory cannot tell.

        Problems of `exclude_source` have no say, as they have none in what was `told`.
        """
        problem, rule = self.problem, TRANSFERS[self.plan.settings.transfer]
        if rule is None or problem.meta_features is None or self.plan.regressor is None:
            return None
        if not len(strangers(told, problem.feature_names)):
            return None
        fared = self.memory.feature_experience(
            problem, exclude_name=self.exclude_name, exclude_source=exclude_source
        )
        if self._before is not None and fared.equals(self._before[0]):
            return self._before[1]  # nothing was left out, so nothing is learnt anew
        name = self.plan.settings.regressor or DEFAULT_REGRESSOR
        with blaming("regressor", name, problem):
            judgement = judge(
                fared,
                rule.worth(fared),
                problem.meta_features,
                problem.meta_feature_names,
                self.plan.regressor,
            )
        self._before = fared, None if judgement is None else judgement.expected
        return self._before[1]


def search(prepared: Prepared, keep: Sequence[int] = ()) -> Selection:
    """Select features, starting from the prior."""
    problem = prepared.problem
    return select(
        prepared.plan.selector_for(problem.categories, keep),
        problem.X,
        problem.y,
        prior=prepared.prior,
        meta_features=problem.meta_features,
        keep=keep,
    )


def work(prepared: Prepared, *, learning: bool = True) -> Worked:
    """Select features, then learn from them, if that is wanted."""
    problem, plan, clock = prepared.problem, prepared.plan, Stopwatch()
    settings = plan.settings
    keep = kept_columns(problem, settings.keep)
    if learning:  # what cannot be learnt is refused before anything is searched
        learner_name, learner = plan.learner_for(problem)
        scoring = plan.scoring_for(problem)
    with clock("select"), blaming("selector", settings.selector_name, problem):
        selection = search(prepared, keep)
    if not selection.selected.any():
        raise ProblemError(
            f"selector {settings.selector_name!r} selected no feature of {problem.name!r}: "
            "choose another with --selector, or change it with --param."
        )
    if not learning:
        quality = qualities(problem, selection.selected, confidence=confidence_of(plan.selector))
        return Worked(selection, None, quality, clock.seconds)
    with clock("learn"), blaming("learner", learner_name, problem):
        scores: Scores | None = None
        notes: tuple[str, ...] = ()
        try:
            scores = learn(
                problem,
                selection.selected,
                plan.selector_for(problem.categories, keep, in_fold=True),
                learner,
                scoring=scoring,
                prior=prepared.fold_prior,
                keep=keep,
                n_folds=settings.folds,
                seed=settings.seed,
            )
        except NoScore as reason:
            notes = (f"no score: {str(reason).rstrip('.')}",)
        quality = qualities(
            problem,
            selection.selected,
            scores.success if scores else 1.0,
            confidence_of(plan.selector),
        )
    return Worked(selection, scores, quality, clock.seconds, search_cold(prepared, keep), notes)


def search_cold(prepared: Prepared, keep: Sequence[int]) -> tuple[Selection, float] | None:
    """Search without memory, where that is to be checked against; return also the seconds."""
    if not prepared.checked or prepared.prior is None:
        return None
    clock = Stopwatch()
    with clock("select"):
        cold = search(replace(prepared, prior=None), keep)
    return cold, clock.seconds["select"]


def kept_columns(problem: Problem, keep: tuple[str, ...]) -> list[int]:
    """Return the indices of the columns that are always selected."""
    place = {name: index for index, name in enumerate(problem.feature_names)}
    for name in keep:
        if name not in place:
            raise ProblemError(f"{problem.name!r} has no column {name!r} to keep.")
    return [place[name] for name in keep]


@contextmanager
def blaming(kind: str, name: str, problem: Problem) -> Iterator[Any]:
    """Say which plugin failed on which problem, whatever it raised."""
    try:
        yield
    except MetafsError:
        raise
    except (Exception, SystemExit) as error:
        raise ProblemError(
            f"{kind} {name!r} failed on {problem.name!r}: {describe(error)}"
        ) from error
