"""One small table from file to record: which functions it passes through, and how often.

A hop is a call from a function of one module of the core or of the MetaDB to one of another module;
reading a property is none. Printed are the number of different hops, of all hops and of modules,
how often a table is discretised, and how often the database is opened. The folds discretise their
own rows. `--attributes` counts properties too, as earlier figures do.

    python benchmarks/walk.py [--list] [--selector climb] [--attributes]
"""

import argparse
import sys
import tempfile
from collections import Counter
from functools import cached_property
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np

from metafs import solve


def table(folder: Path) -> Path:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6)).round(3)
    y = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")
    rows = (",".join([*map(str, row), label]) for row, label in zip(X, y, strict=True))
    path = folder / "table.csv"
    path.write_text("\n".join(["a,b,c,d,e,f,y", *rows]) + "\n")
    return path


def module_of(code: CodeType) -> str | None:
    parts = Path(code.co_filename).parts
    for root in ("metafs", "metafs_metadb"):
        if root in parts:
            at = len(parts) - 1 - parts[::-1].index(root)
            return ".".join(parts[at:]).removesuffix(".py")
    return None


def is_property(frame: FrameType) -> bool:
    """Tell whether a frame computes what looks like an attribute."""
    if not frame.f_code.co_argcount:
        return False
    one = frame.f_locals.get(frame.f_code.co_varnames[0])
    found = getattr(type(one), frame.f_code.co_name, None)
    return isinstance(found, (property, cached_property))


class Walk:
    """Counts calls between modules while it is the profiler."""

    def __init__(self, attributes: bool) -> None:
        self.attributes = attributes
        self.hops: Counter[tuple[str, str]] = Counter()
        self.calls: Counter[str] = Counter()

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        here, caller = module_of(frame.f_code), frame.f_back
        if event != "call" or here is None or caller is None:
            return
        name = frame.f_code.co_name
        if name.startswith("<"):
            return
        self.calls[f"{here}.{name}"] += 1
        there = module_of(caller.f_code)
        if there is None or there == here:
            return
        if self.attributes or not is_property(frame):
            self.hops[f"{there}.{caller.f_code.co_name}", f"{here}.{name}"] += 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="print every hop, in order")
    parser.add_argument("--selector", help="instead of the default")
    parser.add_argument("--attributes", action="store_true", help="count properties too")
    arguments = parser.parse_args()
    settings = {"selector": arguments.selector} if arguments.selector else {}
    with tempfile.TemporaryDirectory() as folder:
        path, db = table(Path(folder)), Path(folder) / "m.duckdb"
        stream = solve(path, target="y", db=db, folds=2, engine="inline", **settings)
        walk = Walk(arguments.attributes)
        sys.setprofile(walk)
        (solved,) = stream
        sys.setprofile(None)
    assert solved.status == "solved", solved.error
    if arguments.list:
        for number, ((one, other), count) in enumerate(walk.hops.items(), start=1):
            print(f"{number:3}. {one} -> {other} ({count})")
    modules = {name.rpartition(".")[0] for hop in walk.hops for name in hop}
    print(
        f"{len(walk.hops)} different hops, {sum(walk.hops.values())} in all, through "
        f"{len(modules)} modules; discretised "
        f"{walk.calls['metafs.stats.discretise._discretise']} times; database opened "
        f"{walk.calls['metafs_metadb.files.connect._attach']} times"
    )


if __name__ == "__main__":
    main()
