"""What this package offers: selection and learning by properties of features."""

from metafs.plugin import Generator, Learner, Selector, hookimpl
from metafs_metafeatures.generators import AndOrGenerator, MonomialGenerator, PatchPrototypes
from metafs_metafeatures.gp_prior import GPPriorClassifier
from metafs_metafeatures.mf_pfs import MFPFS
from metafs_metafeatures.mufasa import Mufasa


@hookimpl
def metafs_selectors() -> dict[str, Selector]:
    """Offer the selectors ``mf-pfs`` and ``mufasa``."""
    return {"mf-pfs": MFPFS(), "mufasa": Mufasa()}


@hookimpl
def metafs_learners() -> dict[str, Learner]:
    """Offer the learner ``gp-prior``."""
    return {"gp-prior": GPPriorClassifier(random_state=0)}


@hookimpl
def metafs_generators() -> dict[str, Generator]:
    """Offer the generators ``and-or``, ``monomials`` and ``patches``."""
    return {
        "and-or": AndOrGenerator(),
        "monomials": MonomialGenerator(),
        "patches": PatchPrototypes(),
    }
