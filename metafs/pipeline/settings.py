"""Settings of a run as plain names and numbers, and the plan of objects they resolve to."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from difflib import get_close_matches
from hashlib import blake2b
from typing import Any

import numpy as np

from metafs.data.fingerprint import hash_rows
from metafs.data.parameters import check_at_least
from metafs.data.problem import Problem
from metafs.data.row_values import OF_ROWS
from metafs.errors import UsageError
from metafs.pipeline.choice.contest import AUTO, Contest, Size, contest_of
from metafs.pipeline.choice.selector import AutoSelector
from metafs.pipeline.fit_parameters import takes
from metafs.pipeline.scoring import require_fitting_learner
from metafs.pipeline.selection import check_parameters, configured
from metafs.plugin.prior import THRESHOLD
from metafs.plugin.protocols import SetMeasure, SupportsLearner
from metafs.plugin.registry import Registry
from metafs.stats.scorers import default_scoring, require_fitting_scoring, scorer_named
from metafs.transfer.expectation import TRANSFERS, C, Transfer

DEFAULT_REGRESSOR = "forest"
DEFAULT_MEASURE = "mi-confidence"
QUALITIES = ("learner", "selector", "functions")


@dataclass(frozen=True)
class Settings:
    """The settings of a run; two runs with equal settings and content give equal answers."""

    selector: Any = AUTO
    """A public name, or any scikit-learn-compatible selector object; "auto" chooses a pipeline."""
    params: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of the selector.

    ``measure`` (of sets), ``quality`` (a measure of features) and ``regressor`` may be given by
    their public names."""
    learner: Any = None
    """A public name or an estimator; "auto" chooses one, and is the default where the selector is
    "auto" too. Elsewhere the default is logistic for classes and ridge for numbers."""
    size: Size = AUTO
    """How many features the selector "auto" keeps: a number, "all", or what it decides."""
    max_features: int | None = None
    """How many features the selector "auto" keeps at most."""
    distance: str = "jsd-features"
    project: int | None = None
    """Describe problems by this many features only: those most often selected so far."""
    whole_below: float | None = None
    """Compare problems that are nearer than this by these features by all features as well."""
    transfer: str = "guided"
    regressor: str | None = None
    """Predicts the expectation of unseen features from their meta-features; default a forest."""
    neighbours: int = 5
    threshold: float = THRESHOLD
    c: float = C
    """The constant of a neighbour's weight 1 / (c + d^2), for a neighbour at distance d."""
    quality: str = "learner"
    """What is remembered as the quality of a selected feature: "learner" is its relevance times the
    learner's success, "selector" its score by the selector, "functions" how much the functions that
    the search met depend on it."""
    prefilter: float | None = None
    """Features with less mutual information with the target, in bits, are left out beforehand.

    Problems are compared with those that were described behind the same prefilter."""
    budget: int | None = None
    """Evaluations of a search; None is the selector's own, 1000 for climb, no end for gflip."""
    seconds: float | None = None
    scoring: str | None = None
    keep: tuple[str, ...] = ()
    folds: int = 5
    seed: int | None = 0

    def digest(self) -> str:
        """Return a short text that is equal for equal settings."""
        values = {each.name: _described(getattr(self, each.name)) for each in fields(self)}
        text = json.dumps(values, sort_keys=True)
        return blake2b(text.encode(), digest_size=12).hexdigest()

    def digest_for(self, problem: Problem) -> str:
        """Return a digest that also differs for other properties of features or of rows.

        These are meta-features, unlabelled rows, groups, times and weights.
        """
        of_rows = {name: getattr(problem, name) for name in OF_ROWS}
        known = {name: values for name, values in of_rows.items() if values is not None}
        if problem.meta_features is None and problem.X_unlabelled is None and not known:
            return self.digest()
        digest = blake2b(self.digest().encode(), digest_size=12)
        order = np.argsort(problem.feature_names)  # columns in another order are the same problem
        if problem.meta_features is not None:
            digest.update(json.dumps(problem.meta_feature_names).encode())
            digest.update(np.ascontiguousarray(problem.meta_features[order]).tobytes())
        if problem.X_unlabelled is not None:
            digest.update(hash_rows(problem.X_unlabelled[:, order]))
        for name, values in known.items():
            digest.update(name.encode())
            digest.update(np.ascontiguousarray(values).tobytes())
        return digest.hexdigest()

    def resolve(self, registry: Registry) -> "Plan":
        """Look every name up, once, before any problem is read."""
        _require_one_of("transfer", self.transfer, TRANSFERS)
        check_at_least("neighbours", self.neighbours, 1)
        if self.budget is not None:
            check_at_least("budget", self.budget, 1)
        check_at_least("folds", self.folds, 2)
        if self.project is not None:
            check_at_least("project", self.project, 1)
        if not 0 <= self.threshold <= 1:
            raise UsageError(f"threshold must lie between 0 and 1, not {self.threshold:g}.")
        if not 0 < self.c < np.inf:
            raise UsageError(f"c must be a number above 0, not {self.c:g}.")
        _require_one_of("quality", self.quality, dict.fromkeys(QUALITIES))
        if self.quality == "functions" and self.automatic:
            raise UsageError(
                "quality functions is for a selector and a learner that are named: give --selector "
                "and --learner."
            )
        self._check_prefilter()
        if self.seconds is not None and not self.seconds > 0:
            raise UsageError(f"seconds must be more than 0, not {self.seconds:g}.")
        if self.scoring is not None:
            scorer_named(self.scoring)
        distance = registry.distances[self.distance]
        if self.project is not None and not hasattr(distance, "features"):
            raise UsageError(f"distance {self.distance!r} cannot be projected: use jsd-rows.")
        self._check_whole_below()
        self._check_size()
        return Plan(
            self,
            self._selector(registry),
            self._learners(registry),
            distance,
            regressor_named(self.regressor, registry),
            TRANSFERS[self.transfer],
            contest=self._contest(registry),
        )

    @property
    def automatic(self) -> bool:
        """Whether a pipeline is chosen, instead of the selector and the learner that were named."""
        return AUTO in (self.selector, self.learner)

    def _check_whole_below(self) -> None:
        if self.whole_below is None:
            return
        if self.project is None:
            raise UsageError(
                "whole_below is for a distance in two stages: give project as well, the number of "
                "features to compare first."
            )
        if not 0 < self.whole_below <= 1:
            raise UsageError(
                f"whole_below is a distance, above 0 and up to 1, not {self.whole_below:g}."
            )

    def _check_prefilter(self) -> None:
        if self.prefilter is None:
            return
        if not self.prefilter >= 0:
            raise UsageError(f"prefilter must be 0 bits or more, not {self.prefilter:g}.")
        if self.automatic:
            raise UsageError(
                "prefilter is for a selector and a learner that are named: give --selector and "
                "--learner, or leave it out."
            )

    def _check_size(self) -> None:
        if isinstance(self.size, int):
            check_at_least("size", self.size, 1)
        elif self.size not in ("all", AUTO):
            raise UsageError(f"size must be a number, all or auto, not {self.size!r}.")
        if self.max_features is not None:
            check_at_least("max_features", self.max_features, 1)
        if self.selector != AUTO and (self.size != AUTO or self.max_features is not None):
            raise UsageError(
                f"size and max_features are for the selector 'auto', not {self.selector_name!r}: "
                "give --param n_features_to_select=N where it has that parameter."
            )

    def _contest(self, registry: Registry) -> Contest | None:
        """Return what takes part in the choice of a pipeline; None if nothing is to be chosen."""
        if not self.automatic:
            return None
        chosen = None if self.selector == AUTO else (self.selector_name, self._selector(registry))
        learner = None
        if self.learner not in (None, AUTO):
            learner = self._learners(registry)[True]
        return contest_of(
            registry,
            selector=chosen,
            learner=learner,
            size=self.size,
            max_features=self.max_features,
        )

    def _learners(self, registry: Registry) -> dict[bool, tuple[str, Any]]:
        """Return name and learner for classes (True) and for numbers (False)."""
        if self.learner == AUTO or (self.learner is None and self.selector == AUTO):
            return dict.fromkeys((True, False), (AUTO, registry.learners.get("remembered")))
        if self.learner is None:
            names = {True: "logistic", False: "ridge"}
            return {task: (name, registry.learners.get(name)) for task, name in names.items()}
        named = isinstance(self.learner, str)
        learner = registry.learners[self.learner] if named else self.learner
        return dict.fromkeys((True, False), (_name(self.learner), learner))

    def _selector(self, registry: Registry) -> Any:
        """Return the selector with its parameters, budget and seed."""
        named = isinstance(self.selector, str) and self.selector != AUTO
        selector = registry.selectors[self.selector] if named else self.selector
        if self.selector == AUTO:
            selector = AutoSelector()
        if isinstance(selector, type) or not hasattr(selector, "get_params"):
            raise UsageError(
                f"{selector!r} is not a selector: give a name, or an object such as SelectKBest()."
            )
        params = self._with_measure(selector, registry)
        unknown = params.keys() - selector.get_params().keys()
        if unknown:
            hint = " Name another with --selector, climb for instance." * (self.selector == AUTO)
            raise UsageError(
                f"selector {self.selector_name!r} has no parameter {min(unknown)!r}: "
                f"it has {', '.join(sorted(selector.get_params(deep=False)))}.{hint}"
            )
        for name, offers in {
            "quality": registry.measures,
            "regressor": registry.regressors,
        }.items():
            if isinstance(params.get(name), str):
                params[name] = offers[params[name]]
        limits = {"max_evaluations": self.budget, "max_seconds": self.seconds}
        limits = {name: limit for name, limit in limits.items() if limit is not None}
        ready = configured(selector, {**limits, "random_state": self.seed, **params})
        check_parameters(ready, self.selector_name)
        return ready

    def _with_measure(self, selector: Any, registry: Registry) -> dict[str, Any]:
        """Return the parameters, with the measure that they name and its own: ``measure__b``."""
        of_measure, params = dict[str, Any](), dict[str, Any]()
        for name, value in self.params.items():
            own = name.removeprefix("measure__")
            (params if own == name else of_measure)[own] = value
        if isinstance(params.get("measure"), str):
            params["measure"] = self._measure_of_sets(params["measure"], registry)
        if of_measure and "measure" in selector.get_params(deep=False):
            measure = params.get("measure") or registry.measures[DEFAULT_MEASURE]
            params["measure"] = _with_fields(measure, of_measure)
            return params
        return params | {f"measure__{name}": value for name, value in of_measure.items()}

    def _measure_of_sets(self, name: str, registry: Registry) -> Any:
        """Return the measure of that name; one that wraps a learner wraps the one asked for."""
        measure = registry.measures[name]
        if not isinstance(measure, SetMeasure):
            raise UsageError(f"measure {name!r} is of single features, not of sets.")
        if self.learner in (None, AUTO) or not isinstance(measure, SupportsLearner):
            return measure
        _, learner = self._learners(registry)[True]
        return measure.with_learner(learner)

    @property
    def selector_name(self) -> str:
        """The selector's public name, or the class of one given by hand."""
        return _name(self.selector)


@dataclass(frozen=True)
class Plan:
    """Settings with the objects that their names stand for."""

    settings: Settings
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


def regressor_named(name: str | None, registry: Registry) -> Any:
    """Return the regressor of that name, or the default one if it is installed."""
    return registry.regressors.get(DEFAULT_REGRESSOR) if name is None else registry.regressors[name]


def _with_fields(measure: Any, values: Mapping[str, Any]) -> Any:
    """Return a measure with other parameters, or say which it has."""
    known = [each.name for each in fields(measure)] if is_dataclass(measure) else []
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


def _described(value: Any) -> Any:
    """Return plain values that are equal for equal settings, in this process and in any other."""
    if isinstance(value, (str, int, float, type(None))):
        return value
    if isinstance(value, Mapping):
        return {str(key): _described(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_described(each) for each in value]
    if hasattr(value, "get_params") and not isinstance(value, type):
        return [_described(type(value)), _described(value.get_params(deep=False))]
    if is_dataclass(value) and not isinstance(value, type):
        return [_described(type(value)), repr(value)]
    named = value if hasattr(value, "__qualname__") else type(value)
    return f"{named.__module__}.{named.__qualname__}"


def _name(value: Any) -> str:
    return value if isinstance(value, str) else type(value).__name__


def _require_one_of(what: str, value: str, known: Mapping[str, Any]) -> None:
    if value not in known:
        near = get_close_matches(value, known, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}."
        raise UsageError(f"there is no {what} named {value!r}: {hint}")
