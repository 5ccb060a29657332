"""Name the plugin that failed, whatever it raised."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from metafs.data.problem import Problem
from metafs.errors import MetafsError, ProblemError, describe, kind_and_place


@contextmanager
def naming_plugin(kind: str, name: str, problem: Problem) -> Iterator[Any]:
    """Say which plugin failed on which problem, whatever it raised."""
    try:
        yield
    except (MetafsError, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        failed = f"{kind} {name!r} failed on {problem.name!r}"
        blamed = ProblemError(f"{failed}: {describe(error)}")
        blamed.without_data = f"{failed}: {kind_and_place(error)}"
        raise blamed from error
