"""The progress line inside a problem, on a real terminal."""

import subprocess

import numpy as np
import pandas as pd

from .running import start, terminal


def test_a_terminal_sees_how_far_the_choice_of_a_pipeline_is(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(90, 4)), columns=[*"abcd"])
    frame["y"] = np.where(frame["a"] > 0, "up", "down")
    frame.to_csv(tmp_path / "t.csv", index=False)
    command = ["solve", tmp_path / "t.csv", "--target", "y", "--learner", "remembered"]
    command += ["--db", tmp_path / "m.duckdb"]
    with terminal(*command, stdout=subprocess.DEVNULL) as (process, screen):
        shown = screen.whole()
        assert process.wait() == 0
    for phase in (b"reading", b"describing", b"comparing pipelines, 1 scored", b"recording"):
        assert b"[1/1] t: " + phase in shown
    process = start(*command)
    _, messages = process.communicate(timeout=120)
    assert process.returncode == 0 and "reading" not in messages
