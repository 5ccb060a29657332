"""The lines after a stream: what was solved, what memory gave, notes and failures."""

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from metafs.data.printable import one_line
from metafs.pipeline.display.progress import format_seconds
from metafs.pipeline.memory_savings import in_words, labels_worth
from metafs.pipeline.solution import Solution

MOST_NOTES = 10
HURT = 0.005
"""A score that memory lowers by less is noise."""


def summary(done: list[Solution], seconds: float, db: str) -> str:
    """Return how many problems were solved, the notes, and why each other problem failed."""
    counts = Counter(each.status for each in done)
    text = (
        f"\n{counts['solved']} solved, {counts['skipped']} skipped, {counts['failed']} failed "
        f"in {format_seconds(seconds)}; remembered in {db}."
    )
    text += memory_in_words(done) + notes_in_words(done)
    for each in done:
        if each.status == "failed":
            text += "\n" + one_line(f"failed: {each.problem}: {each.error}")
    return text


def memory_in_words(done: list[Solution]) -> str:
    """Return for how many problems memory was relevant, and what it saved; empty if unused."""
    asked = Counter(each.experience for each in done if each.experience is not None)
    if not asked:
        return ""
    text = f"\nmemory: near experience for {asked['near']} of {asked.total()} problems"
    if asked.total() == asked["none"]:
        text, asked["none"] = "\nmemory: no related problem was solved before", 0
    if asked["far"]:
        text += f", only far experience for {asked['far']}"
    if asked["none"]:
        text += f", no relevant experience for {asked['none']}"
    if asked["nameless"]:
        text += (
            f", none for {asked['nameless']} whose columns have no names (name them, or give "
            "--space NAME if a column means the same in all of them)"
        )
    text += compared_in_words(done)
    checked = [each.saving for each in done if each.saving is not None]
    if checked:
        text += f"; where it was checked, {in_words(checked)}"
    return text + "."


def compared_in_words(done: Sequence[Solution]) -> str:
    """Return what memory gave on the problems that were also solved without it."""
    both = [each for each in done if each.without_memory is not None and each.score is not None]
    if not both:
        return ""

    def means(with_memory: Callable[[Solution], float | None], name: str) -> tuple[float, float]:
        mine = [with_memory(each) or 0.0 for each in both]
        return float(np.mean(mine)), float(np.mean([getattr(each, name) or 0.0 for each in both]))

    score, alone = means(lambda each: each.score, "without_memory")
    kept, kept_alone = means(lambda each: each.n_selected, "features_without_memory")
    took, took_alone = means(lambda each: sum(each.seconds.values()), "seconds_without_memory")
    hurt = sum((each.score or 0.0) < (each.without_memory or 0.0) - HURT for each in both)
    text = (
        f"; of {len(both)} that were also solved without memory, the mean score is {score:.3f} "
        f"instead of {alone:.3f} with {kept:.1f} instead of {kept_alone:.1f} features, in "
        f"{took:.1f} s instead of {took_alone:.1f} s; memory hurt the score of {hurt} "
        f"(by more than {HURT:g})"
    )
    worth = labels_worth([each.transfers for each in done])
    if worth is not None:
        n_labels, equal = worth
        text += (
            f"; with memory {n_labels} labels a class are worth {equal} without, for a linear model"
        )
    return text


def notes_in_words(done: list[Solution]) -> str:
    """Return each different note once, with the problems that it concerns."""
    problems: dict[str, list[str]] = {}
    for each in done:
        for note in each.notes:
            problems.setdefault(note, []).append(each.problem)
    lines = [
        f"note: {names[0]}{f' and {len(names) - 1} more' if len(names) > 1 else ''}: {note}."
        for note, names in problems.items()
    ]
    if len(lines) > MOST_NOTES:
        lines[MOST_NOTES:] = [f"{len(lines) - MOST_NOTES} more notes: --json gives all."]
    return "".join(f"\n{one_line(each)}" for each in lines)
