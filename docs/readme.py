"""Write what commands of the README and of a page print into them, or check that they print it.

python docs/readme.py            runs them and rewrites the README and the page
python docs/readme.py --check    runs them and fails if one prints something else

A text block after ``<!-- printed by: COMMAND -->`` is what COMMAND prints after the lines above it
in its bash block. They run in the order of the README, then of the page, in one new folder, which
has a link to the examples. A line ``...`` in a table stands for any rows, and a long line may be
wrapped. Seconds are neither compared nor rewritten: write those of an idle machine by hand.
"""

import difflib
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGES = (ROOT / "README.md", ROOT / "docs" / "how-to" / "features-nobody-measured.md")
PRINTED = re.compile(r"(?<=<!-- printed by: )(.+?) -->\n```text\n(.*?)```", re.DOTALL)
SECONDS = re.compile(r"(\d+ min )?\d+(\.\d+)?(?= s\b)")
ELLIPSIS = "..."
WIDTH = 100
LONGEST_TABLE = 130


def printed(command: str, page: str, folder: str) -> str:
    """Return what a command prints, after the lines above it in its bash block."""
    blocks = [block.splitlines() for block in re.findall(r"```bash\n(.*?)```", page, re.DOTALL)]
    block = next((lines for lines in blocks if command in lines), None)
    if block is None and not any(line.endswith(command) for lines in blocks for line in lines):
        sys.exit(f"no bash block shows {command!r}.")
    before = block[: block.index(command)] if block else []
    script = "\n".join(["{", ":", *before, "} > /dev/null", command])
    tools = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    ours = {name: value for name, value in os.environ.items() if not name.startswith("METAFS_")}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env={**ours, "PATH": tools},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{command!r} failed: {done.stdout}")
    return done.stdout


def abridged(shown: str, text: str) -> str:
    """Return a command's output cut where the README cuts it; as shown if only seconds differ."""
    table, *rest = text.strip("\n").split("\n\n")
    before, ellipsis, after = shown.split("\n\n")[0].partition(f"\n{ELLIPSIS}\n")
    if ellipsis:
        rows, n_last = table.splitlines(), len(after.splitlines())
        table = "\n".join([*rows[: len(before.splitlines())], ELLIPSIS, *rows[-n_last:]])
    lines = "\n\n".join([table, *rest]).splitlines()
    new = "".join(f"{_wrapped(line.rstrip())}\n" for line in lines)
    return shown if _comparable(shown) == _comparable(new) else _with_seconds_of(shown, new)


def _with_seconds_of(shown: str, new: str) -> str:
    """Return the new text with the seconds shown so far, which this machine may not reach now."""
    seconds = [found[0] for found in SECONDS.finditer(shown)]
    if len(seconds) != len(SECONDS.findall(new)):
        return new
    return SECONDS.sub(lambda _: seconds.pop(0), new)


def _wrapped(line: str) -> str:
    return textwrap.fill(line, WIDTH) if len(line) > LONGEST_TABLE else line


def _comparable(text: str) -> str:
    return " ".join(SECONDS.sub("_", text).split())


def main() -> None:
    """Rewrite the pages, or check them."""
    stale = []
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "examples").symlink_to(ROOT / "examples")
        for page in PAGES:
            old = page.read_text()
            new = with_output(old, folder)
            if "--check" not in sys.argv[1:]:
                page.write_text(new)
            elif new != old:
                stale += difflib.unified_diff(
                    old.splitlines(), new.splitlines(), page.name, lineterm="", n=1
                )
    if stale:
        sys.exit("\n".join([*stale, "what commands print is stale; run: python docs/readme.py"]))


def with_output(page: str, folder: str) -> str:
    """Return a page with what its commands print."""
    return PRINTED.sub(
        lambda found: (
            f"{found[1]} -->\n```text\n{abridged(found[2], printed(found[1], page, folder))}```"
        ),
        page,
    )


if __name__ == "__main__":
    main()
