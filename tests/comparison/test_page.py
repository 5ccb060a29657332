"""The sentences that say what a comparison found."""

import pytest

from metafs.comparison.page import in_words
from metafs.comparison.result import Comparison, Entry
from metafs.pipeline.solution import Solution

NAMES = ["climb", "fisher", "relief"]


def comparison(scores):
    """Compare pipelines with these scores, a row for each problem."""
    entries = [
        Entry(name, index, Solution(f"p{index}", "solved", score=score, scoring="accuracy"))
        for index, row in enumerate(scores)
        for name, score in zip(NAMES, row, strict=False)
    ]
    return Comparison(NAMES[: len(scores[0])], entries, len(scores))


@pytest.mark.parametrize(
    ("scores", "end"),
    [
        ([[0.9 + n / 100, 0.8] for n in range(8)], "The best mean rank is that of climb."),
        ([[0.9, 0.9] for _ in range(8)], "finds no difference between pipelines (p = 1)."),
        ([[0.9]], "Ranks are tested with at least two pipelines on two problems."),
        (
            [[0.9, 0.8, 0.1 + n / 100] for n in range(4)],
            "climb; by Nemenyi's test it does not differ from fisher.",
        ),
        (
            [[0.9, 0.8, 0.1 + n / 100] for n in range(40)],
            "climb; by Nemenyi's test it differs from all others.",
        ),
    ],
)
def test_every_sentence_ends_with_one_full_stop(scores, end):
    said = in_words(comparison(scores))
    assert said.startswith(f"{len(scores)} problem")
    assert said.endswith(end)
    assert ".." not in said
