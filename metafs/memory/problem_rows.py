"""A problem as the MetaDB keeps it."""

from metafs.data.problem import Problem
from metafs.data.typing import Array
from metafs_metadb import ProblemRow


def meta_features_of(problem: Problem) -> dict[str, Array]:
    """Return the problem's meta-features as the MetaDB keeps them: a column for each name."""
    if problem.meta_features is None:
        return {}
    return dict(zip(problem.meta_feature_names, problem.meta_features.T, strict=True))


def problem_row(problem: Problem) -> ProblemRow:
    """Return the problem as the MetaDB keeps it."""
    return ProblemRow(
        space=problem.own_space,
        name=problem.name,
        source=problem.source,
        fingerprint=problem.fingerprint,
        n_samples=problem.n_samples,
        n_features=problem.n_features,
        target=problem.target,
    )
