"""What a fitted estimator chose, below the diagram that scikit-learn shows in a notebook."""

from typing import Any

from sklearn.utils import estimator_html_repr

from metafs.pipeline.display.html import facts, in_words, listed, near


class ChosenInHtml:
    """A mixin, to be named before scikit-learn's classes: it adds what was chosen.

    An estimator has those of the attributes `pipeline_`, `score_`, `scoring_`, `baseline_`,
    `neighbours_`, `n_evaluations_` and `stopped_` that its docstring tells of.
    """

    def _html_repr(self) -> str:
        """Return scikit-learn's diagram, and what was chosen if the estimator is fitted."""
        diagram = str(estimator_html_repr(self))
        fitted = vars(self)
        if "n_features_in_" not in fitted:
            return diagram
        return diagram + facts(self._chosen(fitted))

    def _chosen(self, fitted: dict[str, Any]) -> dict[str, Any]:
        chosen: Any = self  # a selector of scikit-learn
        support = chosen.get_support()
        names = fitted.get("feature_names_in_", [f"x{j}" for j in range(len(support))])
        selected = [str(name) for name, kept in zip(names, support, strict=True) if kept]
        baseline = fitted.get("baseline_") or {}
        return {
            "selected": f"{len(selected)} of {len(support)} features",
            "features": listed(selected),
            "pipeline": in_words(fitted.get("pipeline_")),
            f"score ({fitted.get('scoring_')})": fitted.get("score_"),
            "all features": baseline.get("all_features"),
            "no skill": baseline.get("no_skill"),
            "evaluations": fitted.get("n_evaluations_"),
            "stopped": fitted.get("stopped_"),
            "near": near(fitted.get("neighbours_") or []),
        }
