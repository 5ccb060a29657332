"""The pipelines of a comparison: a selector with its parameters, and a learner."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from metafs.data.parameters import named_value
from metafs.errors import UsageError
from metafs.pipeline.settings import Settings

_NEXT_PARAMETER = re.compile(r",(?=[A-Za-z_]\w*=)")


@dataclass(frozen=True)
class Pipeline:
    """A selector and a learner under one name."""

    name: str
    settings: Settings


def pipelines_of(
    selectors: Sequence[Any], learners: Sequence[Any] = (), shared: Settings | None = None
) -> list[Pipeline]:
    """Return a pipeline for each selector with each learner; without learners, the default one.

    Parameters
    ----------
    selectors : sequence of str or selector
        Public names, with parameters as in ``fisher:n_features_to_select=10,other=2``, or any
        scikit-learn-compatible selectors.
    learners : sequence of str or estimator
    shared : Settings, optional
        What all pipelines share: folds, scoring, seed, ...

    Examples
    --------
    >>> both = pipelines_of(["auto", "fisher:n_features_to_select=10"])
    >>> [(each.name, dict(each.settings.params)) for each in both]
    [('auto', {}), ('fisher:n_features_to_select=10', {'n_features_to_select': 10})]
    >>> [each.name for each in pipelines_of(["fisher"], ["forest", "logistic"])]
    ['fisher + forest', 'fisher + logistic']
    """
    shared = shared or Settings()
    found = []
    for given in selectors:
        selector, params = parsed(given) if isinstance(given, str) else (given, {})
        for learner in learners or (None,):
            name = _name(given) if learner is None else f"{_name(given)} + {_name(learner)}"
            settings = replace(shared, selector=selector, params=params, learner=learner)
            found.append(Pipeline(name, settings))
    names = [each.name for each in found]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"pipeline {name!r} is given twice: give each once.")
    if len(found) < 2:
        raise UsageError("there is nothing to compare: give at least two selectors or learners.")
    return found


def parsed(text: str) -> tuple[str, dict[str, Any]]:
    """Return the selector's name and its parameters.

    Examples
    --------
    >>> parsed("svm-rfe:C=0.1,n_features_to_select=5")
    ('svm-rfe', {'C': 0.1, 'n_features_to_select': 5})
    """
    name, colon, rest = text.partition(":")
    if not name or (colon and not rest):
        raise UsageError(f"a selector is given as NAME or NAME:PARAM=VALUE,..., not {text!r}.")
    return name, dict(named_value(each) for each in _NEXT_PARAMETER.split(rest)) if rest else {}


def _name(given: Any) -> str:
    return given if isinstance(given, str) else repr(given)
