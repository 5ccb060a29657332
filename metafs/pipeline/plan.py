"""The plan of a run: the objects that the names in its settings stand for."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from metafs.data.problem import Problem
from metafs.errors import UsageError
from metafs.pipeline.choice.contest import AUTO, Contest, contest_of
from metafs.pipeline.choice.selector import AutoSelector
from metafs.pipeline.fitting.parameters import takes
from metafs.pipeline.fitting.scoring import require_fitting_learner
from metafs.pipeline.fitting.selection import check_parameters, configured
from metafs.plugin.protocols import SetMeasure, SupportsLearner
from metafs.plugin.registry import Registry
from metafs.stats.scorers import default_scoring, require_fitting_scoring
from metafs.transfer.expectation import TRANSFERS, Transfer

if TYPE_CHECKING:
    from metafs.pipeline.settings import Settings  # which makes plans

DEFAULT_REGRESSOR = "forest"
DEFAULT_MEASURE = "mi-confidence"


@dataclass(frozen=True)
class Plan:
    """Settings with the objects that their names stand for."""

    settings: "Settings"
    selector: Any
    learners: Mapping[bool, tuple[str, Any]]
    distance: Any
    regressor: Any
    """None if no plugin offers the default one."""
    transfer: Transfer | None
    """None for no transfer."""
    fold_selector: Any = None
    """What selects inside folds, if not the selector: one without an aim set for all rows."""
    contest: Contest | None = None
    """What takes part in the choice of a pipeline; None if selector and learner are named."""

    def selector_for(
        self, categorical: Iterable[int], keep: Iterable[int], *, in_fold: bool = False
    ) -> Any:
        """Return the selector with categorical and kept columns set, if it takes them."""
        columns = {"categorical_features": sorted(categorical), "keep_features": sorted(keep)}
        other = in_fold and self.fold_selector is not None
        selector = self.fold_selector if other else self.selector
        return configured(selector, {name: value for name, value in columns.items() if value})

    def learner_for(self, problem: Problem) -> tuple[str, Any]:
        """Return the learner that suits the problem's target, with its name."""
        name, learner = self.learners[problem.is_classification]
        if learner is None:
            raise UsageError(f"no plugin offers the learner {name!r}: choose one with --learner.")
        require_fitting_learner(learner, name, problem)
        return name, learner

    def asks_memory(self, problem: Problem) -> bool:
        """Tell whether the selector or the learner can make use of a prior."""
        _, learner = self.learners[problem.is_classification]
        return takes(self.selector, "prior") or takes(learner, "prior")

    def keeping(self, keep: tuple[str, ...]) -> "Plan":
        """Return the plan with other columns that are always selected."""
        if keep == self.settings.keep:
            return self
        return replace(self, settings=replace(self.settings, keep=keep))

    def scoring_for(self, problem: Problem) -> str:
        """Return the scorer asked for, or the one that suits the problem's target."""
        if self.settings.scoring is None:
            return default_scoring(problem)
        require_fitting_scoring(self.settings.scoring, problem)
        return self.settings.scoring


def plan_of(settings: "Settings", registry: Registry) -> Plan:
    """Look every name up, once; the settings are known to go together."""
    return Plan(
        settings,
        _selector(settings, registry),
        _learners(settings, registry),
        registry.distances[settings.distance],
        regressor_named(settings.regressor, registry),
        TRANSFERS[settings.transfer],
        contest=_contest(settings, registry),
    )


def regressor_named(name: str | None, registry: Registry) -> Any:
    """Return the regressor of that name, or the default one if it is installed."""
    return registry.regressors.get(DEFAULT_REGRESSOR) if name is None else registry.regressors[name]


def _contest(settings: "Settings", registry: Registry) -> Contest | None:
    """Return what takes part in the choice of a pipeline; None if nothing is to be chosen."""
    if not settings.automatic:
        return None
    chosen = (
        None
        if settings.selector == AUTO
        else (settings.selector_name, _selector(settings, registry))
    )
    learner = None
    if settings.learner not in (None, AUTO):
        learner = _learners(settings, registry)[True]
    return contest_of(
        registry,
        selector=chosen,
        learner=learner,
        size=settings.size,
        max_features=settings.max_features,
    )


def _learners(settings: "Settings", registry: Registry) -> dict[bool, tuple[str, Any]]:
    """Return name and learner for classes (True) and for numbers (False)."""
    if settings.learner == AUTO or (settings.learner is None and settings.selector == AUTO):
        return dict.fromkeys((True, False), (AUTO, registry.learners.get("remembered")))
    if settings.learner is None:
        names = {True: "logistic", False: "ridge"}
        return {task: (name, registry.learners.get(name)) for task, name in names.items()}
    named = isinstance(settings.learner, str)
    learner = registry.learners[settings.learner] if named else settings.learner
    return dict.fromkeys((True, False), (name_of(settings.learner), learner))


def _selector(settings: "Settings", registry: Registry) -> Any:
    """Return the selector with its parameters, budget and seed."""
    named = isinstance(settings.selector, str) and settings.selector != AUTO
    selector = registry.selectors[settings.selector] if named else settings.selector
    if settings.selector == AUTO:
        selector = AutoSelector()
    if isinstance(selector, type) or not hasattr(selector, "get_params"):
        raise UsageError(
            f"{selector!r} is not a selector: give a name, or an object such as SelectKBest()."
        )
    params = _with_measure(settings, selector, registry)
    unknown = params.keys() - selector.get_params().keys()
    if unknown:
        name, known = min(unknown), sorted(selector.get_params(deep=False))
        hint = " Name another with --selector, climb for instance." * (settings.selector == AUTO)
        if "measure" in known and name in _fields(_measure(params, registry)):
            hint = f" Its measure has: give measure__{name}."
        raise UsageError(
            f"selector {settings.selector_name!r} has no parameter {name!r}: "
            f"it has {', '.join(known)}.{hint}"
        )
    for name, offers in {
        "quality": registry.measures,
        "regressor": registry.regressors,
    }.items():
        if isinstance(params.get(name), str):
            params[name] = offers[params[name]]
    limits = {"max_evaluations": settings.budget, "max_seconds": settings.seconds}
    limits = {name: limit for name, limit in limits.items() if limit is not None}
    ready = configured(selector, {**limits, "random_state": settings.seed, **params})
    check_parameters(ready, settings.selector_name)
    return ready


def _with_measure(settings: "Settings", selector: Any, registry: Registry) -> dict[str, Any]:
    """Return the parameters, with the measure that they name and its own: ``measure__b``."""
    of_measure, params = dict[str, Any](), dict[str, Any]()
    for name, value in settings.params.items():
        own = name.removeprefix("measure__")
        (params if own == name else of_measure)[own] = value
    if isinstance(params.get("measure"), str):
        params["measure"] = _measure_of_sets(settings, params["measure"], registry)
    if of_measure and "measure" in selector.get_params(deep=False):
        params["measure"] = _with_fields(_measure(params, registry), of_measure)
        return params
    return params | {f"measure__{name}": value for name, value in of_measure.items()}


def _measure(params: Mapping[str, Any], registry: Registry) -> Any:
    """Return the measure that is searched by."""
    return params.get("measure") or registry.measures[DEFAULT_MEASURE]


def _fields(measure: Any) -> list[str]:
    """Return the parameters of a measure."""
    return [each.name for each in fields(measure)] if is_dataclass(measure) else []


def _measure_of_sets(settings: "Settings", name: str, registry: Registry) -> Any:
    """Return the measure of that name; one that wraps a learner wraps the one asked for."""
    measure = registry.measures[name]
    if not isinstance(measure, SetMeasure):
        raise UsageError(f"measure {name!r} is of single features, not of sets.")
    if settings.learner in (None, AUTO) or not isinstance(measure, SupportsLearner):
        return measure
    _, learner = _learners(settings, registry)[True]
    return measure.with_learner(learner)


def _with_fields(measure: Any, values: Mapping[str, Any]) -> Any:
    """Return a measure with other parameters, or say which it has."""
    known = _fields(measure)
    for name in sorted(values.keys() - set(known)):
        raise UsageError(
            f"the measure {type(measure).__name__} has no parameter {name!r}: it has "
            f"{', '.join(known) or 'none'}."
        )
    try:
        return replace(measure, **values)
    except TypeError:
        given = ", ".join(f"{name}={value!r}" for name, value in sorted(values.items()))
        raise UsageError(f"the measure {type(measure).__name__} cannot use {given}.") from None


def name_of(value: Any) -> str:
    """Return a public name as it is, and the class of an object given by hand."""
    return value if isinstance(value, str) else type(value).__name__
