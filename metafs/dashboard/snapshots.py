"""What the dashboard shows: a copy of the memory, made without its lock and at a limited pace.

Looking whether somebody wrote costs a look at the folder. Only then, and only when somebody asks,
is the memory copied and drawn anew, with a twentieth of a processor at most.
"""

import threading
import time
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from metafs.memory import MetaDB, MetaDBError
from metafs.page.text import json_in_page, shown
from metafs.report.contents import contents
from metafs.report.layout import Place, places
from metafs.report.page import page
from metafs.report.records import report

REST = 19.0
"""After a copy was drawn, nothing is for this many times the processor time that it took."""
LEAST_REST_S = 1.0
MOST_ROWS = 1000
MOST_CELLS = 20_000
SQL_SECONDS, SQL_MEMORY_GB = 10.0, 0.5
LARGEST_EXACT = 2**53
LIVE = ("live",)


@dataclass(frozen=True)
class Snapshot:
    """The memory as it was at one moment, drawn."""

    tag: str
    """Changes with every commit."""
    html: str
    json: str
    memory: MetaDB
    """The private copy, for queries."""
    folder: TemporaryDirectory[str]
    places: dict[int, Place]


class Snapshots:
    """The latest snapshot of a memory."""

    def __init__(
        self,
        db: MetaDB,
        space: str | None = None,
    ) -> None:
        self._db, self._space = db, space
        self._latest: Snapshot | None = None
        self._rest_until = 0.0
        self._turn = threading.Lock()
        self._replaced: Snapshot | None = None

    def latest(self) -> Snapshot:
        """Return a snapshot, a new one if there is something new and it is time.

        Raises
        ------
        MetaDBError
            There is no memory that could be read, and none could be before.
        """
        before = self._latest
        if before is None:
            with self._turn:
                return self._latest or self._renew(None)
        if time.monotonic() < self._rest_until or not self._turn.acquire(blocking=False):
            return before
        try:
            version = self._version()
            return before if version in (None, before.tag) else self._renew(before)
        except MetaDBError:  # moved away or replaced: what was there is still shown
            return before
        finally:
            self._turn.release()

    def _version(self) -> str | None:
        return self._db.version() if self._db.exists() else None

    def _renew(self, before: Snapshot | None) -> Snapshot:
        begun = time.process_time()
        tag = self._db.version()  # of before the copy, so that nothing new is ever missed
        folder = TemporaryDirectory(prefix="metafs-dashboard-")
        try:
            memory = self._db.copy_into(Path(folder.name))
            found = report(memory, self._space)
            at = places(found.problems, before.places if before else None)
            data = contents(found, at, self._db.path.name)
            html = page(found, data, "What metafs remembers", live=LIVE, tag=tag)
        except BaseException:
            folder.cleanup()
            raise
        self._latest = Snapshot(tag, html, json_in_page(data), memory, folder, at)
        if self._replaced is not None:
            self._replaced.folder.cleanup()
        self._replaced = before  # a query may just be copying it
        used = time.process_time() - begun
        self._rest_until = time.monotonic() + max(LEAST_REST_S, REST * used)
        return self._latest

    def close(self) -> None:
        """Remove the copies."""
        for each in (self._latest, self._replaced):
            if each is not None:
                each.folder.cleanup()
        self._latest = self._replaced = None

    def ask(self, query: str) -> dict[str, Any]:
        """Answer a query that only reads, on the copy that is shown."""
        memory = self.latest()
        columns, rows = memory.memory.sql(query, seconds=SQL_SECONDS, memory_gb=SQL_MEMORY_GB)
        most = max(1, min(MOST_ROWS, MOST_CELLS // max(len(columns), 1)))
        found = [[_cell(value) for value in row] for row in islice(rows, most)]
        more = next(rows, None) is not None
        if close := getattr(rows, "close", None):
            close()
        return {"columns": [shown(each) for each in columns], "rows": found, "more": more}


def _cell(value: Any) -> Any:
    """Return a value as a browser reads it: numbers that it holds exactly, else text."""
    if value is None or isinstance(value, bool):
        return None if value is None else str(value).lower()
    if isinstance(value, int) and abs(value) < LARGEST_EXACT:
        return value
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, float) and value - value == 0:  # neither nan nor infinite
        return value
    return shown(str(value), 300)
