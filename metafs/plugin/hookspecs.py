"""What a plugin may offer. One function per kind; each docstring is the contract.

Every hook returns a mapping of public name to unfitted object and is asked once, when
the registry is built. A name that two plugins offer is an error. `metafs.testing` holds
the same contracts as checks that a plugin's own tests can run.
"""

from collections.abc import Mapping
from typing import Any

import pluggy

hookspec = pluggy.HookspecMarker("metafs")
hookimpl = pluggy.HookimplMarker("metafs")


@hookspec
def metafs_selectors() -> Mapping[str, Any]:
    """Offer feature selectors: scikit-learn ``SelectorMixin`` estimators.

    ``fit(X, y, *, prior=None, meta_features=None)`` leaves ``scores_`` of shape (n_features,),
    larger meaning better, ``ranking_`` with 1 for the best, ``n_evaluations_``, ``stopped_``
    (why the search ended) and ``get_support()``. A search also leaves ``fitness_`` and
    ``candidates_``, a list of (evaluation number, feature indices, fitness).
    A prior changes where a search begins and what it tries first, never what it optimises.
    ``check_parameters()`` may refuse parameters that are wrong whatever the data: it is asked
    before anything is solved, while what ``fit`` refuses fails one problem.
    A plain scikit-learn selector without these extras may be offered as it is.
    """
    raise AssertionError("a specification is never called")


@hookspec
def metafs_measures() -> Mapping[str, Any]:
    """Offer quality measures: ``measure(X, y)`` returns one score per feature, larger is better.

    A measure of sets also has ``measure.of_set(X, y, features) -> float``; with
    ``measure.bind(X, y, categories=None)`` it may return an evaluator whose
    ``of_sets(base, edits)`` gives the fitness of many sets near ``base`` in one go. An evaluator
    with ``abandons = True`` also takes ``above``, and may return, for a set that cannot exceed
    this fitness, any bound that does not either; ``at_once(base)`` may then say how many sets near
    ``base`` cost little more than one of them. One with ``prices_size = False`` values a set no
    less for being large. One with ``hints(base)`` returns how promising each feature is to join
    ``base``, as far as it can tell without evaluating that, or None.
    """
    raise AssertionError("a specification is never called")


@hookspec
def metafs_regressors() -> Mapping[str, Any]:
    """Offer scikit-learn regressors from meta-features of a feature to its quality.

    One that knows how sure it is takes ``predict(U, return_std=True)`` and then returns the
    predictions and their standard deviations.
    """
    raise AssertionError("a specification is never called")


@hookspec
def metafs_generators() -> Mapping[str, Any]:
    """Offer generators of features: more features than could ever be listed, drawn when wanted.

    ``sample(u, rng)`` draws a feature whose meta-features are as near to u as can be,
    ``meta_features(f)`` are its own, of shape (k,), ``measure(f, images)`` its value on each
    instance, ``cost(f)`` what measuring it costs, above 0. ``meta_feature_names`` names the k
    meta-features, ``bounds`` of shape (k, 2) gives the least and largest value of each, and
    ``nearest(u)`` is the valid point nearest to u. A feature is any value that can be hashed.
    `metafs.plugin.generators` measures many at once, and faster where the generator says how.
    """
    raise AssertionError("a specification is never called")


@hookspec
def metafs_distances() -> Mapping[str, Any]:
    """Offer distances between problems.

    ``signature(problem)`` describes a problem as a `metafs.Signature`, a sparse discrete
    distribution; ``distance(a, b)`` of two signatures is a metric in [0, 1]. ``in_sql`` says
    whether it is the square root of the Jensen-Shannon divergence, which the MetaDB searches.
    """
    raise AssertionError("a specification is never called")


@hookspec
def metafs_learners() -> Mapping[str, Any]:
    """Offer scikit-learn classifiers or regressors, trained on the selected columns."""
    raise AssertionError("a specification is never called")
