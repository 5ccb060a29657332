"""Refuse what is no measure, in a sentence that says what to give."""

from typing import Any

from metafs.errors import UsageError
from metafs.plugin.protocols import SetMeasure


def check_quality(quality: Any) -> None:
    """Refuse what is no measure of single features; None is the selector's own."""
    if quality is not None and not callable(quality):
        raise UsageError(f"quality is {quality!r}; give a measure of single features, or None.")


def check_measure_of_sets(selector: str, measure: Any) -> None:
    """Refuse what is no measure of sets; None is the selector's own."""
    if measure is not None and not isinstance(measure, SetMeasure):
        raise UsageError(
            f"{selector} cannot use {measure!r}: give a measure of sets, such as "
            'Registry().measures["margin"].'
        )
