"""Options that several commands share: one name, one meaning, one help text."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from metafs.data.target import TASKS

if TYPE_CHECKING:
    from metafs.data.readers import ReadOptions  # imports scikit-learn, which takes a while

F = TypeVar("F", bound=Callable[..., Any])


def _sources(_ctx: Any, _param: Any, incomplete: str) -> list[CompletionItem]:
    """Complete the names of demonstrations, and let the shell complete those of files."""
    from metafs.data.readers.demo import DEMOS

    demos = [CompletionItem(name) for name in DEMOS if name.startswith(incomplete)]
    return [*demos, CompletionItem(incomplete, type="file")]


def problem_options(command: F) -> F:
    """Add SOURCE... and the options for reading it."""
    for add in (
        click.option(
            "--meta-features",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Table of features' properties; its first column names the features.",
        ),
        click.option("--weight", metavar="COL", help="Column that says how much each row counts."),
        click.option(
            "--time", metavar="COL", help="Column of dates or numbers: test on later rows only."
        ),
        click.option(
            "--groups", metavar="COL", help="Column whose equal values are never divided in folds."
        ),
        click.option("--drop", multiple=True, metavar="COL", help="Column to ignore."),
        click.option(
            "--task",
            type=click.Choice(TASKS),
            default="auto",
            show_default=True,
            help="Whether the target holds classes or numbers.",
        ),
        click.option("--space", help="Pool of features in which equal names mean the same."),
        click.option(
            "--target", multiple=True, metavar="NAME", help="Column to predict; may be repeated."
        ),
        click.argument("source", nargs=-1, required=True, shell_complete=_sources),
    ):
        command = add(command)
    return command


def read_options(options: dict[str, Any], keep: tuple[str, ...] = ()) -> "ReadOptions":
    """Take the options of `problem_options` out of all options, as readers want them."""
    from metafs.data.readers import ReadOptions

    names = ("space", "drop", "task", "meta_features", "groups", "time", "weight")
    return ReadOptions(
        targets=options.pop("target"), keep=keep, **{name: options.pop(name) for name in names}
    )


def selector_options(command: F, default: str = "climb") -> F:
    """Add ``--selector`` and ``--param``."""
    for add in (
        click.option(
            "--param",
            multiple=True,
            metavar="NAME=VALUE",
            help="Parameter of the selector; repeatable.",
        ),
        click.option("--selector", default=default, show_default=True, help="Selector plugin."),
    ):
        command = add(command)
    return command


def learner_options(command: F) -> F:
    """Add ``--learner`` and the options for its score."""
    for add in (
        click.option(
            "--folds", default=5, show_default=True, help="Folds of the cross-validation."
        ),
        click.option("--scoring", help="scikit-learn scorer.  [default: balanced_accuracy, or r2]"),
        click.option(
            "--learner",
            help="Model to train.  [default: auto for auto, else logistic, or ridge for numbers]",
        ),
    ):
        command = add(command)
    return command


def preset_option(command: F) -> F:
    """Add ``--preset``."""
    return click.option(
        "--preset",
        metavar="NAME",
        help="Settings that belong together, as defaults of the other options: paper is the "
        "published system and nothing else.",
    )(command)


def with_preset(ctx: click.Context, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options, with those of a preset in the place of defaults."""
    from metafs.pipeline.presets import preset_named

    options = dict(options)
    name = options.pop("preset")
    for option, value in (preset_named(name) if name is not None else {}).items():
        if option in options and ctx.get_parameter_source(option) is ParameterSource.DEFAULT:
            options[option] = value
    return options


def prefilter_option(command: F) -> F:
    """Add ``--prefilter``."""
    return click.option(
        "--prefilter",
        type=float,
        metavar="BITS",
        help="Leave out features with less mutual information with the target.",
    )(command)


def memory_options(command: F) -> F:
    """Add the options for comparing problems and for using the neighbours."""
    for add in (
        click.option(
            "--quality",
            default="learner",
            show_default=True,
            help="What is remembered as the quality of a selected feature: learner (relevance "
            "times the learner's success), selector (its score by the selector) or functions "
            "(how much the functions that the search met depend on it).",
        ),
        click.option(
            "--c",
            type=float,
            default=0.001,
            show_default=True,
            metavar="C",
            help="A neighbour at distance d has the weight 1 / (C + d^2).",
        ),
        click.option(
            "--threshold",
            default=0.1,
            show_default=True,
            help="Minimum expectation of a starting feature.",
        ),
        click.option(
            "--neighbours",
            default=5,
            show_default=True,
            metavar="K",
            help="Number of problems to recall.",
        ),
        click.option(
            "--regressor",
            help="Predicts unseen features from meta-features.  [default: forest]",
        ),
        click.option(
            "--whole-below",
            type=float,
            metavar="D",
            help="With --project: compare problems nearer than D by all features as well.",
        ),
        click.option(
            "--project",
            type=int,
            metavar="N",
            help="Compare problems by the N most selected features only.",
        ),
        click.option(
            "--distance",
            default="jsd-features",
            show_default=True,
            help="Distance between problems.",
        ),
    ):
        command = add(command)
    return command


def budget_option(command: F) -> F:
    """Add ``--budget``."""
    return click.option(
        "--budget",
        type=int,
        metavar="N",
        help="Maximum number of evaluations of a search.  [default: 1000 for climb]",
    )(command)


def keep_option(command: F) -> F:
    """Add ``--keep``."""
    return click.option(
        "--keep", multiple=True, metavar="COL", help="Column that is always selected."
    )(command)


def seed_option(command: F) -> F:
    """Add ``--seed``."""
    return click.option(
        "--seed",
        type=click.IntRange(0, 2**32 - 1),
        default=0,
        show_default=True,
        metavar="N",
        help="Seed of all randomness.",
    )(command)


def db_option(command: F) -> F:
    """Add ``--db``."""
    return click.option(
        "--db",
        envvar="METAFS_DB",
        default="metafs.duckdb",
        show_default=True,
        show_envvar=True,
        type=click.Path(),
        help="The MetaDB, a DuckDB file.",
    )(command)


def json_option(command: F) -> F:
    """Add ``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="JSON instead of a table.")(command)


def no_plugin_option(command: F) -> F:
    """Add ``--no-plugin``."""
    return click.option(
        "--no-plugin",
        multiple=True,
        metavar="NAME",
        help="Leave a plugin out, by its name or its package; may be repeated.",
    )(command)


def json_lines_option(command: F) -> F:
    """Add ``--json`` to a command that prints problems one by one."""
    return click.option(
        "--json", "as_json", is_flag=True, help="One JSON object per line for each problem."
    )(command)
