"""The face for plugin authors: hooks, protocols, the base of selectors, priors, signatures.

What is named here, and in `metafs.data`, `metafs.stats` and `metafs.errors` where docs/plugins.md
names it, is what a plugin may rely on.
"""

from metafs.plugin.hookspecs import hookimpl, hookspec
from metafs.plugin.prior import Prior, as_prior
from metafs.plugin.protocols import (
    Distance,
    Generator,
    Learner,
    Measure,
    Regressor,
    Selector,
    SetEvaluator,
    SetMeasure,
    SupportsAbandoning,
    SupportsBatches,
    SupportsBind,
    SupportsCandidates,
    SupportsConfidence,
    SupportsCost,
    SupportsHints,
    SupportsLearner,
    SupportsMeasureAll,
    SupportsParameterCheck,
    SupportsPrepare,
    SupportsPrior,
    SupportsSampleAll,
    SupportsSingles,
    SupportsSizePrice,
    SupportsSizes,
)
from metafs.plugin.ranking import RankingFromPrior, RankingSelector, ranking
from metafs.plugin.registry import API_VERSION, Registry
from metafs.plugin.selector import BaseSelector
from metafs.plugin.signature import Signature, hash_keys, jensen_shannon, signature_of

__all__ = [
    "API_VERSION",
    "BaseSelector",
    "Distance",
    "Generator",
    "Learner",
    "Measure",
    "Prior",
    "RankingFromPrior",
    "RankingSelector",
    "Registry",
    "Regressor",
    "Selector",
    "SetEvaluator",
    "SetMeasure",
    "Signature",
    "SupportsAbandoning",
    "SupportsBatches",
    "SupportsBind",
    "SupportsCandidates",
    "SupportsConfidence",
    "SupportsCost",
    "SupportsHints",
    "SupportsLearner",
    "SupportsMeasureAll",
    "SupportsParameterCheck",
    "SupportsPrepare",
    "SupportsPrior",
    "SupportsSampleAll",
    "SupportsSingles",
    "SupportsSizePrice",
    "SupportsSizes",
    "as_prior",
    "hash_keys",
    "hookimpl",
    "hookspec",
    "jensen_shannon",
    "ranking",
    "signature_of",
]
