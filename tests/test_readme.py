"""What the README says its commands print is what they print."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "docs" / "readme.py"
SHOWN = "rows\na 1\n...\nz 9\n\n3 solved in 2 s; a sentence that is\nwrapped.\n"


@pytest.fixture(scope="module")
def abridged():
    return runpy.run_path(str(SCRIPT))["abridged"]


@pytest.mark.long
def test_commands_print_what_is_shown():
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_seconds_wrapping_and_rows_left_out_may_differ(abridged):
    printed = "rows\na 1\nb 2\nc 3\nz 9\n\n3 solved in 41 s; a sentence that is wrapped.\n"
    assert abridged(SHOWN, printed) == SHOWN


@pytest.mark.parametrize("old, new", [("a 1", "a 2"), ("z 9", "z 8"), ("3 solved", "2 solved")])
def test_another_figure_is_stale(abridged, old, new):
    printed = "rows\na 1\nb 2\nz 9\n\n3 solved in 2 s; a sentence that is wrapped.\n"
    stale = abridged(SHOWN, printed.replace(old, new))
    assert stale != SHOWN
    assert new in stale
    assert "b 2" not in stale
