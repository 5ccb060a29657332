"""A batch: problems that are read and prepared together, all from the same memory.

That memory is the one there was when the batch began. If the stream was interrupted after some of
its problems were recorded, the others still do not recall them, so a stream that is resumed gives
the answers of one that was never interrupted.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from hashlib import blake2b
from pathlib import Path
from time import perf_counter
from typing import Protocol, TypeVar

from metafs.data.problem import Problem
from metafs.memory import MetaDBError
from metafs.memory.memory import Memory
from metafs.pipeline.checked_tables import checked_table
from metafs.pipeline.events import Event, emit
from metafs.pipeline.models.saving import has_model
from metafs.pipeline.plan import Plan
from metafs.pipeline.preparing import described_by, described_part, prepare
from metafs.pipeline.recording import failure, skipped
from metafs.pipeline.solution import Solution
from metafs.pipeline.task import PreparedTask, utc_now

T = TypeVar("T")


class Readable(Protocol):
    """A problem yet to be read."""

    @property
    def name(self) -> str:
        """How the problem is called."""

    @property
    def origin(self) -> str:
        """Where it comes from."""

    def read(self) -> Problem:
        """Read it, or raise an error that explains why it cannot be read."""


@dataclass(frozen=True, eq=False)
class Read:
    """A problem that was read, or why it could not be read."""

    key: str
    """Differs for other content and for other settings."""
    problem: Problem | None
    plan: Plan
    known: Solution | None = None
    """If it was solved before, or could not be read."""
    started_at: datetime = field(default_factory=utc_now)
    seconds: float = 0.0
    """How long reading took."""


def read_problem(
    readable: Readable, plan: Plan, memory: Memory | None, models: Path | None = None
) -> Read:
    """Read a problem, and look whether it has been solved with these settings before.

    If models are to be saved in a folder, one that has none there counts as not solved yet.
    """
    emit(Event(readable.name, "reading"))
    started_at, started = utc_now(), perf_counter()
    plan = plan.keeping(getattr(readable, "keep", plan.settings.keep))
    problem = tried(lambda: readable.read().by_name(), readable.name)
    if isinstance(problem, Solution):
        return Read(f"{readable.origin} {readable.name}", None, plan, problem)
    settings, digest = plan.settings, plan.settings.digest_for(problem)

    def look() -> Solution | None:
        stored = memory.solved(problem, digest) if memory else None
        if not stored or (models is not None and not has_model(models, problem)):
            return None
        if memory is not None and settings.project is not None:
            part = described_part(problem, settings)
            memory.near.wait_for_projection(
                part, described_by(settings), settings.project, problem.fingerprint
            )
        return skipped(problem, stored)

    known = tried(look, readable.name)
    seconds = perf_counter() - started
    return Read(f"{problem.fingerprint} {digest}", problem, plan, known, started_at, seconds)


def batch_key(read: Sequence[Read]) -> str:
    """Return a text that is equal for the same problems with the same settings in this order."""
    digest = blake2b(digest_size=12)
    for each in read:
        digest.update(f"{each.key}\0".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def prepare_all(
    read: Sequence[Read], memory: Memory | None, batch: str | None, *, strict: bool = False
) -> list[PreparedTask | Solution]:
    """Prepare the problems that are not solved yet, from the memory of when their batch began.

    Without a `batch` that is the memory of now. With `strict` what may be wrong with a table is an
    error, also of one that was solved before.
    """
    finished = all(each.known is not None for each in read)
    asked: AbstractContextManager[Memory | None] = nullcontext(memory)
    if memory is not None and batch is not None and not finished:
        asked = memory.of_batch(batch)
    with asked as before:
        return [_prepared(each, before, strict, alone=len(read) == 1) for each in read]


def _prepared(
    read: Read, memory: Memory | None, strict: bool, alone: bool
) -> PreparedTask | Solution:
    problem, started = read.problem, perf_counter()
    if problem is not None and read.known is not None and strict:
        bare = PreparedTask(problem, read.plan)
        refused = tried(partial(checked_table, bare, strict=True), problem.name)
        return refused if isinstance(refused, Solution) else read.known
    if read.known is not None:
        return read.known
    assert problem is not None
    emit(Event(problem.name, "describing"))
    task = tried(partial(prepare, problem, read.plan, memory), problem.name)
    if isinstance(task, Solution):
        return task
    task = tried(partial(checked_table, task, strict=strict), problem.name)
    if isinstance(task, Solution):
        return task
    spent = None if alone else read.seconds + perf_counter() - started
    return replace(task, started_at=read.started_at, spent=spent)


def tried(step: Callable[[], T], name: str) -> T | Solution:
    """Return what a step of a problem returns, or its failure, unless nothing can go on."""
    try:
        return step()
    except MetaDBError:
        raise  # without its memory the stream cannot go on
    except Exception as error:
        if is_interrupt(error):
            raise KeyboardInterrupt from error
        return failure(error, name)


def is_interrupt(error: BaseException | None) -> bool:
    """Tell whether this is DuckDB's way of passing on Ctrl-C: it swallows the signal itself."""
    while error is not None:
        if isinstance(error, RuntimeError) and "Query interrupted" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False
