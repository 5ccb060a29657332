"""`metafs explain`: which features memory proposed, why, and which were selected."""

from collections.abc import Sequence
from typing import Any

import click

from metafs.cli.app import Sentences
from metafs.cli.lookup import among_spaces_option, problem_named
from metafs.cli.options import db_option, json_option
from metafs.cli.output import echo_line, echo_message, echo_sentences, echo_table, to_json
from metafs.data.printable import one_line
from metafs.memory import MetaDB
from metafs.memory.explaining import LIMIT
from metafs.memory.explaining import explain as explain_run
from metafs.transfer.explanation import Explanation, FeatureExplanation, sentences

NEIGHBOUR_COLUMNS = ("rank", "neighbour", "distance", "share")
FEATURE_COLUMNS = (
    "rank",
    "feature",
    "outcome",
    "score",
    "expected",
    "neighbours",
    "frequency",
    "proposed by",
    "quality",
    "weight",
    "from memory",
    "carried by",
)
PART_COLUMNS = ("neighbour", "distance", "share", "selected", "score", "quality", "part")


@click.command(cls=Sentences)
@click.argument("name")
@click.argument("feature", required=False)
@click.option(
    "--run",
    "run_id",
    type=click.IntRange(min=1),
    metavar="RUN_ID",
    help="A run of `metafs runs`.  [default: the best]",
)
@among_spaces_option
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    default=LIMIT,
    show_default=True,
    help="Show at most N selected features and N proposed ones that were not selected.",
)
@db_option
@json_option
def explain(
    name: str,
    feature: str | None,
    run_id: int | None,
    space: str | None,
    limit: int,
    db: str,
    as_json: bool,
) -> None:
    """Explain which features memory proposed for the problem NAME and which were selected.

    The selected features come first, then the others with the highest expectation. score is
    relative to the best feature. expected is what memory expected before the run: the sum of a
    part from neighbours and a part from the feature's selection frequency over all problems.
    quality is what the learner gained from the feature. weight is that of the linear model on all
    features, with the part that came from memory and the past problem that contributed most to
    it; without linear models, these columns are left out. With the learner moses, its program is
    shown. With FEATURE, show everything that is known about that feature.

    Example: metafs explain "digits 3 vs 8" pixel_4_2
    """
    metadb = MetaDB(db)
    problem = problem_named(metadb, name, space)
    explanation = explain_run(metadb, problem, feature, run_id=run_id, limit=limit)
    if as_json:
        echo_line(to_json(explanation.as_json()))
        return
    _echo_run(explanation)
    if feature is not None:
        _echo_feature(explanation, explanation.features[0])
    else:
        _echo_features(explanation, limit)


def _echo_run(explanation: Explanation) -> None:
    run = explanation.run
    seed = "" if run["seed"] is None else f", seed {run['seed']}"
    _echo(
        f"{run['problem']} (space {run['space']}), run {run['run_id']}: {run['selector']}, "
        f"transfer {run['transfer']}{seed}"
    )
    scored = "" if run["score"] is None else f", score {run['score']:.4g} ({run['scoring']})"
    fitness = "" if run["fitness"] is None else f", fitness {run['fitness']:.4g}"
    spent = "" if run["n_evaluations"] is None else f", {run['n_evaluations']} evaluations"
    stopped = "" if run["stopped"] is None else f"; stopped: {run['stopped']}"
    _echo(
        f"{run['n_selected']} of {explanation.n_features} features{fitness}{scored}{spent}{stopped}"
    )
    _echo(explanation.memory)
    if explanation.belief is not None:
        _echo(explanation.belief.reason)
    for program in explanation.programs:
        _echo(f"{run['learner']} learned: {program.sentence}")


def _echo_features(explanation: Explanation, limit: int) -> None:
    if explanation.neighbours:
        echo_line()
        rows = [
            (each.rank, each.problem, each.distance, each.share) for each in explanation.neighbours
        ]
        echo_table(NEIGHBOUR_COLUMNS, rows)
        if explanation.neighbours[0].share is not None and explanation.unassigned_share > 1e-9:
            _echo(
                f"The remaining share, {explanation.unassigned_share:.4g}, belongs to no "
                "neighbour: it shrinks what distant problems contribute."
            )
    echo_line()
    if explanation.features:
        _echo_known(FEATURE_COLUMNS, [_row(each) for each in explanation.features])
    else:
        echo_message("no feature was selected, and memory expected nothing of any.")
    n_selected = sum(each.selected for each in explanation.features)
    if (
        n_selected < (explanation.run["n_selected"] or 0)
        or len(explanation.features) - n_selected == limit
    ):
        echo_message(f"showing at most {limit} of each kind: --limit N gives more.")
    wrong = sum(not each.adds_up for each in explanation.features)
    if wrong:
        echo_message(
            f"for {wrong} features the parts do not add up to the stored expectation: the memory "
            "has changed since (a neighbour was forgotten, say), problems were solved in one "
            "batch, or a prior was given by hand."
        )


def _echo_known(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table without the columns of which nothing is known."""
    known = [j for j in range(len(columns)) if any(row[j] is not None for row in rows)]
    echo_table([columns[j] for j in known], [[row[j] for j in known] for row in rows])


def _row(feature: FeatureExplanation) -> tuple[Any, ...]:
    strongest, by = feature.strongest, feature.by
    if strongest is not None and by == strongest.problem:
        by = f"{by} (share {strongest.share:.2f})"
    return (
        feature.rank,
        feature.feature,
        feature.fate,
        feature.relative,
        feature.expected,
        None if feature.predicted else feature.neighbours,
        None if feature.predicted or feature.frequency is None else feature.frequency.part,
        by,
        feature.quality,
        feature.weight,
        feature.from_memory,
        feature.carriers[0].problem if feature.carriers else None,
    )


def _echo_feature(explanation: Explanation, feature: FeatureExplanation) -> None:
    echo_line()
    for sentence in sentences(explanation, feature):
        _echo(sentence)
    if feature.contributions:
        echo_line()
        echo_table(
            PART_COLUMNS,
            [
                (
                    each.problem,
                    each.distance,
                    each.share,
                    ("yes" if each.selected else "no") if each.had else "did not have it",
                    each.relative if each.had else None,
                    each.quality if each.had else None,
                    each.part,
                )
                for each in feature.contributions
            ],
        )


def _echo(text: str) -> None:
    echo_sentences(one_line(text))
