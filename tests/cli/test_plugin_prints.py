"""What a plugin prints is not our data: stdout of the real command holds that and nothing else."""

import json
import os
import subprocess

import pytest

from .running import COMMAND, write_tables

PLUGIN = """
import os
import subprocess

import numpy as np

from metafs.plugin.hookspecs import hookimpl
from metafs.plugin.ranking import RankingSelector

print("loud: imported")


class Loud(RankingSelector):
    def _score(self, X, y):
        print("loud: scored")
        os.write(1, b"loud: as C code writes\\n")
        subprocess.run(["echo", "loud: a program"], check=True)
        return np.arange(X.shape[1], dtype=float)


@hookimpl
def metafs_selectors():
    print("loud: asked")
    return {"loud": Loud()}
"""


@pytest.fixture
def loud(tmp_path, monkeypatch):
    """Install a plugin that prints wherever it can; return a function that runs the command."""
    site = tmp_path / "site"
    described = site / "loud-0.1.dist-info"
    described.mkdir(parents=True)
    (site / "loud_selector.py").write_text(PLUGIN)
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: loud\nVersion: 0.1\n")
    (described / "entry_points.txt").write_text("[metafs]\nloud = loud_selector\n")
    write_tables(tmp_path, [[*"abcdefgh", "y"]] * 3)
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        return subprocess.run(
            [*COMMAND, *arguments],
            env={**os.environ, "PYTHONPATH": str(site)},
            capture_output=True,
            text=True,
            check=True,
        )

    return run


SOURCES = ["t0.csv", "t1.csv", "t2.csv", "--target", "y", "--selector", "loud", "--json"]


@pytest.mark.parametrize(
    "command",
    [
        ["solve", "--selector", "climb", "--folds", "2"],
        ["solve", "--selector", "climb", "--folds", "2", "--batch", "3", "--jobs", "2"],
        ["stability", "--resamples", "2"],
        ["stability", "--resamples", "2", "--jobs", "2"],
    ],
    ids=" ".join,
)
def test_stdout_is_one_json_object_a_line_whatever_a_selector_prints(loud, command):
    done = loud(*command, *SOURCES)
    assert [json.loads(each)["problem"] for each in done.stdout.splitlines()] == ["t0", "t1", "t2"]
    for printed in ("imported", "asked", "scored", "as C code writes", "a program"):
        assert f"loud: {printed}" in done.stderr


def test_a_plugin_that_prints_while_it_is_loaded_spoils_no_list(loud):
    done = loud("plugins", "--json")
    assert "loud" in {each["plugin"] for each in json.loads(done.stdout)}
    assert "loud: imported" in done.stderr
