"""Remembered models beside what one would do without them, on fourteen streams.

    cd benchmarks && python -m remembered DATA STREAM... [--new 70] [--draws 3] [--seed 1]
        [--labels 5 20 100] [--part compare|ablate|select|growth|prior|cost] [--selectors]
        [--past P] [--keep FOLDER] [--out rows.jsonl]

`compare` fills a MetaDB by `metafs.solve`, kept in the folder, and asks it what it tells the
learner; the other parts have a memory that is built by the same functions without a database, with
rows that only measure transfer. Rows of the test are never in memory. A draw divides the rows anew,
draws other past and new problems, and other labelled rows. Finished rows are appended to the file
as they come, and what the file holds is not computed again.
"""

import argparse
import json
import os
import tempfile
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import numpy as np
from remembered import controls
from remembered.arms import MEMORY_FREE, ablated, compared, fitted, measured, selected, with_prior
from remembered.command import Commanded
from remembered.cost import costs
from remembered.memory import Remembered, remember
from remembered.streams import STREAMS, Stream

GROWTH = (5, 15, 45, 120)


def grown(stream: Stream, new: Any, rows: Any, memory: Remembered) -> dict[str, float]:
    """Return the measure after the first few problems."""
    sizes = [n for n in GROWTH if n <= len(memory.weights)]
    return {
        str(n): measured(
            stream,
            fitted(stream, new, rows, memory.prior(n)).decision_function(new.X_test),
            new,
        )
        for n in sizes
    }


STEPS = {"ablate": ablated, "select": selected, "growth": grown, "prior": with_prior}


def rows_of(
    stream: Stream,
    part: str,
    labels: Any,
    draw: int,
    known: list[dict[str, Any]],
    out: Path | None,
    keep: Path,
    *,
    selectors: bool,
) -> list[dict[str, Any]]:
    """Return the rows of a draw; those that a file holds are not computed again."""
    done = {(row["problem"], row["n"]): row for row in known if row["draw"] == draw}
    asked = [
        (new, n, rows)
        for new in stream.new
        for n in labels or stream.labels
        if (rows := new.labelled(n, stream.classes)) is not None
    ]
    missing = [each for each in asked if (each[0].name, each[1]) not in done]
    memory: Any = None
    pooled = expectations = None
    if missing and part == "compare":
        memory = Commanded(stream, keep / f"{stream.name}-{draw}-{len(stream.past)}.duckdb")
        pooled = controls.quietly(controls.Pooled, stream)
        expectations = remember(stream, single=True).expectations() if selectors else None
    elif missing:
        memory = remember(stream, single=False)
    for new, n, rows in missing:
        if part == "compare":
            row = compared(stream, new, rows, memory, pooled, expectations)
        else:
            row = STEPS[part](stream, new, rows, memory)
        named = {"stream": stream.name, "part": part, "draw": draw, "problem": new.name, "n": n}
        done[new.name, n] = {**named, **row}
        if out is not None:
            with out.open("a") as file:
                file.write(json.dumps(done[new.name, n]) + "\n")
    return [done[new.name, n] for new, n, _ in asked]


def finished(out: Path | None, stream: str, part: str) -> list[dict[str, Any]]:
    """Return the rows that a file holds of a part of a stream."""
    if out is None or not out.exists():
        return []
    rows = map(json.loads, out.read_text().splitlines())
    return [row for row in rows if (row["stream"], row["part"]) == (stream, part)]


def print_table(rows: list[dict[str, Any]]) -> None:
    """Print means over problems, and the labels that memory is worth."""
    by_stream = defaultdict(list)
    for row in rows:
        by_stream[row["stream"]].append(row)
    for stream, some in by_stream.items():
        sizes = sorted({row["n"] for row in some})
        arms = [key for key in some[0] if key not in ("stream", "part", "draw", "problem", "n")]
        table = {
            arm: [
                np.nanmean([row[arm] for row in some if row["n"] == n] or [np.nan]) for n in sizes
            ]
            for arm in arms
        }
        counts = [sum(row["n"] == n for row in some) for n in sizes]
        print(f"\n**{stream}** (problems: {', '.join(map(str, counts))})\n")
        print(f"| labels | {' | '.join(map(str, sizes))} |")
        print("|---|" + "--:|" * len(sizes))
        for arm, values in table.items():
            shown = [f"{v:.2f}" if arm in ("strength", "log-loss") else f"{v:.1f}" for v in values]
            print(f"| {arm} | {' | '.join(shown)} |")
        if "remembered" in table:
            print(f"| labels it is worth | {' | '.join(worth(table, sizes, stream))} |")


def print_costs(stream: str, rows: list[dict[str, float]]) -> None:
    """Print the medians over draws."""
    print(f"\n**{stream}**\n\n| {' | '.join(rows[0])} |\n|" + "--:|" * len(rows[0]))
    print(
        "| " + " | ".join(f"{np.median([row[key] for row in rows]):.0f}" for key in rows[0]) + " |"
    )


def worth(table: dict[str, Any], sizes: Any, stream: str) -> list[str]:
    """Return how many labels the best arm without memory needs to be as good."""
    sign = -1 if stream in ("school", "Parkinson") else 1
    free = np.max([sign * np.array(table[arm]) for arm in MEMORY_FREE], axis=0)
    free = np.maximum.accumulate(free)
    found = []
    for value in sign * np.array(table["remembered"]):
        if value > free[-1]:
            found.append(f"> {sizes[-1]}")
        else:
            found.append(f"{np.exp(np.interp(value, free, np.log(sizes))):.0f}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("streams", nargs="*", metavar="STREAM")
    parser.add_argument("--new", type=int, default=70)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--labels", type=int, nargs="+")
    parser.add_argument(
        "--part", choices=["compare", *STEPS, "cost"], default="compare", metavar="PART"
    )
    parser.add_argument(
        "--selectors", action="store_true", help="Compare with shrunk and climb, which takes long."
    )
    parser.add_argument("--past", type=int, help="problems in memory, all of the stream if fewer")
    parser.add_argument("--keep", type=Path, help="where memories are kept, else for the time only")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.keep is None:
            options.keep = Path(folder)
        options.keep.mkdir(parents=True, exist_ok=True)
        run(options)


def run(options: argparse.Namespace) -> None:
    """Compute and print what is asked for."""
    for name in options.streams or STREAMS:
        found = []
        for draw in range(options.seed, options.seed + options.draws):
            stream = STREAMS[name](options.data, options.new, draw)
            stream = replace(stream, past=stream.past[: options.past])
            if options.part == "cost":
                found.append(costs(stream, remember(stream, single=False)))
                continue
            known = finished(options.out, stream.name, options.part)
            found += rows_of(
                stream,
                options.part,
                options.labels,
                draw,
                known,
                options.out,
                options.keep,
                selectors=options.selectors,
            )
        if options.part == "cost":
            print_costs(stream.name, found)
        else:
            print_table(found)


if __name__ == "__main__":
    main()
