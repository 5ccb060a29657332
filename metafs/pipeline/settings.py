"""Settings of a run as plain names and numbers, and which of them go together."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from difflib import get_close_matches
from hashlib import blake2b
from typing import Any

import numpy as np

from metafs.data.fingerprint import hash_rows
from metafs.data.parameters import check_at_least
from metafs.data.problem import Problem
from metafs.data.row_values import OF_ROWS
from metafs.errors import UsageError
from metafs.pipeline.choice.contest import AUTO, Size
from metafs.pipeline.plan import Plan, name_of, plan_of
from metafs.plugin.prior import THRESHOLD
from metafs.plugin.registry import Registry
from metafs.stats.scorers import scorer_named
from metafs.transfer.expectation import TRANSFERS, C

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

    def resolve(self, registry: Registry) -> Plan:
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
        if self.project is not None and not hasattr(registry.distances[self.distance], "features"):
            raise UsageError(f"distance {self.distance!r} cannot be projected: use jsd-rows.")
        self._check_whole_below()
        self._check_size()
        return plan_of(self, registry)

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

    @property
    def selector_name(self) -> str:
        """The selector's public name, or the class of one given by hand."""
        return name_of(self.selector)


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


def _require_one_of(what: str, value: str, known: Mapping[str, Any]) -> None:
    if value not in known:
        near = get_close_matches(value, known, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}."
        raise UsageError(f"there is no {what} named {value!r}: {hint}")
