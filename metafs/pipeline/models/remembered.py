r"""The linear model of a problem, as the MetaDB keeps it, as a model that predicts.

Memory keeps the thousand largest weights of each output, which for most problems are all. Of others
the prediction lacks the rest: the share of the norm that is kept,

.. math:: \sqrt{\sum_k \sum_{j \in K_k} w_{kj}^2 \Big/ \sum_k \|w_k\|^2},

says how much that is. Weights are kept in single precision.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.utils.metaestimators import available_if

from metafs.data.column_form import ColumnForm
from metafs.data.layout import Layout
from metafs.data.typing import Array, Matrix
from metafs.errors import UsageError
from metafs.memory import StoredLinear
from metafs.pipeline.models.model import FittedModel
from metafs.stats.linear import LinearModel, Preparation
from metafs.stats.linear.strength import StrengthChoice


def _of_classes(filled: "Filled") -> bool:
    return filled.model.classes is not None


@dataclass(frozen=True, eq=False)
class Filled:
    """A linear model on rows that may lack values: the mean of the column takes their place."""

    model: LinearModel
    categorical: Array
    """Which columns hold two categories: any other is a missing value."""

    def predict(self, rows: Matrix) -> Array:
        """Return the code of the class, or the number, of each row."""
        return self.model.predict(self._filled(rows))

    @available_if(_of_classes)  # type: ignore[untyped-decorator]
    def predict_proba(self, rows: Matrix) -> Array:
        """Return the probability of each class."""
        return self.model.predict_proba(self._filled(rows))

    def _filled(self, rows: Matrix) -> Array:
        rows = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)
        lacking = np.isnan(rows) | (self.categorical & (rows > 1))
        return np.where(lacking, self.model.preparation.centre, rows)


def share_kept(stored: StoredLinear) -> float:
    """Return which share of the norm of all weights the MetaDB keeps."""
    kept = float((stored.weights**2).sum())
    whole = kept + float((stored.rest_norms**2).sum())
    return float(np.sqrt(kept / whole)) if whole > 0 else 1.0


def remembered_model(
    stored: StoredLinear, *, problem: str, target: str, space: str | None
) -> FittedModel:
    """Return the model that predicts from what the MetaDB keeps.

    Raises
    ------
    UsageError
        An older metafs recorded the model, without what predicting needs.
    """
    if stored.intercepts is None:
        raise UsageError(
            f"the linear model of {problem!r} was recorded by an older metafs and lacks what "
            "predicting needs: solve the problem again with `metafs solve --save-models DIR`."
        )
    words = stored.words | (stored.preparation == "words")
    needed = np.flatnonzero((stored.weights != 0).any(axis=0) | words)
    share = stored.document_frequency
    idf = np.log((1 + stored.n_labels) / (1 + stored.n_labels * share)) + 1
    factor = np.where(words & np.isnan(stored.factor), idf, stored.factor)[needed]
    n_needed = len(needed)
    preparation = Preparation(
        words[needed],
        np.nan_to_num(stored.centre[needed]),
        np.nan_to_num(factor),
        np.ones(n_needed),
        np.ones(n_needed),
    )
    coef = stored.weights[:, needed]
    model = LinearModel(
        preparation=preparation,
        coef=coef,
        intercept=stored.intercepts,
        classes=None if stored.classes is None else np.arange(len(stored.classes)),
        regularisation=np.nan,
        strength=StrengthChoice(
            0.0, np.zeros(1), np.ones(1), None, None, np.zeros(1), "without memory"
        ),
        from_memory=np.zeros_like(coef),
        spread=np.ones(n_needed),
        slope=stored.slope,
    )
    forms = [ColumnForm(stored.names[j], stored.labels[j]) for j in needed.tolist()]
    return FittedModel(
        problem,
        Layout(tuple(forms), tuple(needed.tolist()), len(stored.names)),
        stored.classes,
        target,
        space,
        estimator_=Filled(model, np.array([form.labels is not None for form in forms], dtype=bool)),
    )
