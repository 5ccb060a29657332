"""The progress line inside a problem, on a real terminal."""

import os
import pty
import subprocess
import sys

import numpy as np
import pandas as pd

CODE = "import sys; from metafs.cli import main; sys.argv[0] = 'metafs'; main()"


def test_a_terminal_sees_how_far_the_choice_of_a_pipeline_is(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(90, 4)), columns=[*"abcd"])
    frame["y"] = np.where(frame["a"] > 0, "up", "down")
    frame.to_csv(tmp_path / "t.csv", index=False)
    command = [
        sys.executable,
        "-c",
        CODE,
        "solve",
        "--selector",
        "climb",
        str(tmp_path / "t.csv"),
        "--target",
        "y",
    ]
    command += ["--selector", "auto", "--learner", "remembered", "--db", str(tmp_path / "m.duckdb")]
    ours, theirs = pty.openpty()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    shown = b""
    while chunk := _read(ours):
        shown += chunk
    assert process.wait() == 0
    for phase in (b"reading", b"describing", b"comparing pipelines, 1 scored", b"recording"):
        assert b"[1/1] t: " + phase in shown
    piped = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "reading" not in piped.stderr


def _read(terminal):
    try:
        return os.read(terminal, 4096)
    except OSError:  # the other side is gone
        return b""
