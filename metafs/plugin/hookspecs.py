"""What a plugin may offer. One function per kind; the protocol it returns is the contract.

Every hook returns a mapping of public name to unfitted object and is asked once, when
the registry is built. A name that two plugins offer is an error. `metafs.plugin.protocols` says
what an object of each kind does, and `metafs.testing` holds the same contracts as checks that a
plugin's own tests can run.
"""

from collections.abc import Mapping

import pluggy

from metafs.plugin.protocols import (
    Distance,
    Generator,
    Learner,
    Measure,
    Regressor,
    Selector,
)

hookspec = pluggy.HookspecMarker("metafs")
hookimpl = pluggy.HookimplMarker("metafs")


@hookspec
def metafs_selectors() -> Mapping[str, Selector]:
    """Offer feature selectors: scikit-learn ``SelectorMixin`` estimators.

    A plain scikit-learn selector, such as ``SelectKBest``, may be offered as it is. One whose
    ``fit`` takes ``prior`` and ``meta_features`` gets what memory expects (`SupportsPrior`).
    """
    raise AssertionError("a specification is never called")


@hookspec
def metafs_measures() -> Mapping[str, Measure]:
    """Offer quality measures: ``measure(X, y)`` returns one score per feature, larger is better.

    A measure of sets also has ``of_set`` (`SetMeasure`), and to be fast ``bind``
    (`SupportsBind`), whose evaluator may have further abilities.
    """
    raise AssertionError("a specification is never called")


@hookspec
def metafs_regressors() -> Mapping[str, Regressor]:
    """Offer scikit-learn regressors from meta-features of a feature to its quality."""
    raise AssertionError("a specification is never called")


@hookspec
def metafs_generators() -> Mapping[str, Generator]:
    """Offer generators of features: more features than could ever be listed, drawn when wanted.

    A feature is any value that can be hashed. `metafs.plugin.generators` measures many at once,
    and faster where the generator says how (`SupportsPrepare`, `SupportsMeasureAll`).
    """
    raise AssertionError("a specification is never called")


@hookspec
def metafs_distances() -> Mapping[str, Distance]:
    """Offer distances between problems, over signatures that the MetaDB keeps."""
    raise AssertionError("a specification is never called")


@hookspec
def metafs_learners() -> Mapping[str, Learner]:
    """Offer scikit-learn classifiers or regressors, trained on the selected columns."""
    raise AssertionError("a specification is never called")
