"""What the tests of the command share: calling it here or in a process of its own, and tables."""

import subprocess
import sys

import numpy as np
from click.testing import CliRunner

from metafs.cli.app import cli

COMMAND = [sys.executable, "-c", "from metafs.cli import main; main()"]


def invoke(*arguments):
    return CliRunner().invoke(cli, [str(each) for each in arguments])


def run(*arguments, code=0):
    result = invoke(*arguments)
    assert result.exit_code == code, result.output
    return result


def start(*arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE):
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.Popen(command, stdout=stdout, stderr=stderr, text=True)


def write_tables(folder, headers):
    """Write a table of eight columns and a class for each header; two neighbouring ones tell it."""
    for number, header in enumerate(headers):
        rng = np.random.default_rng(number)
        X = (rng.random((60, 8)) < 0.5).astype(int)
        y = np.where(X[:, number] + X[:, number + 1] >= 1, "yes", "no")
        lines = [",".join([*map(str, x), t]) for x, t in zip(X, y, strict=True)]
        (folder / f"t{number}.csv").write_text("\n".join([",".join(header), *lines]) + "\n")
