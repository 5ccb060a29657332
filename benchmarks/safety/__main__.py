"""What became of each way to lose memory or to get a wrong number, before and after it was fixed.

    python benchmarks/safety [--before OLD_VENV] [POINT ...]

Every module `points_*.py` beside this one has a list `POINTS` of (number, what is tried, function).
A function gets an `Installation` and an empty folder, and returns what it saw in a few words. With
`--before`, a virtual environment with another version of metafs, the table has a column for each.
"""

import argparse
import importlib
import sys
import tempfile
from pathlib import Path
from string import ascii_lowercase

from command import Installation

HERE = Path(__file__).parent


def points() -> list[tuple[str, str, object]]:
    modules = sorted(path.stem for path in HERE.glob("points_*.py"))
    found = [point for name in modules for point in importlib.import_module(name).POINTS]
    return sorted(found, key=lambda point: (int(point[0].rstrip(ascii_lowercase)), point[0]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path, help="virtual environment of another version")
    parser.add_argument("numbers", nargs="*", metavar="POINT")
    arguments = parser.parse_args()
    versions = {"now": Installation(Path(sys.executable).parent)}
    if arguments.before:
        versions = {"before": Installation(arguments.before.resolve() / "bin"), **versions}
    print(f"| point | what is tried | {' | '.join(versions)} |")
    print(f"|---|---|{'---|' * len(versions)}")
    for number, what, look in points():
        if arguments.numbers and number not in arguments.numbers:
            continue
        seen = []
        for installation in versions.values():
            with tempfile.TemporaryDirectory() as folder:
                seen.append(look(installation, Path(folder)))
        print(f"| {number} | {what} | {' | '.join(seen)} |", flush=True)


if __name__ == "__main__":
    main()
