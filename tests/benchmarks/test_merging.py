"""Memories written by processes of their own, merged twice, as `benchmarks/merging.py` does it."""

import subprocess
import sys
from pathlib import Path

BENCHMARK = Path(__file__).parent.parent.parent / "benchmarks" / "merging.py"


def test_memories_of_several_processes_are_as_one_that_saw_all():
    command = [sys.executable, str(BENCHMARK), "4", "2"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "recall as of one memory that saw all" in done.stdout
