"""A process killed inside a write of a commit or of a fold leaves a memory that needs nobody."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TORN = Path(__file__).parents[3] / "benchmarks" / "torn.py"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="preloading needs Linux")
@pytest.mark.skipif(not (shutil.which("cc") or shutil.which("gcc")), reason="no C compiler")
def test_torn_writes_lose_nothing():
    scenarios = ("a commit after others", "folding alone")
    command = [sys.executable, TORN, "--every", 4, "--offsets", 1, "--scenario", *scenarios]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    rows = [line.split("|") for line in done.stdout.splitlines()[-2:]]
    assert [row[1].strip() for row in rows] == list(scenarios)
    assert [int(row[3]) for row in rows] >= [1, 5]  # kills
    assert [int(row[5]) for row in rows] == [0, 0]  # damaged
