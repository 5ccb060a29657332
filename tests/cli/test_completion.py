"""Completion as the README shows it: click's own mechanism, in the real command."""

import os
import shutil
import subprocess

import pytest

from .running import COMMAND


def completed(shell, words):
    """Return what a shell is told; fish gives the line and the word, others the word's place."""
    environment = {
        **os.environ,
        "_METAFS_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": words.split(" ")[-1] if shell == "fish" else str(words.count(" ")),
    }
    command = [COMMAND[0], "-c", "import sys; sys.argv[0] = 'metafs'; " + COMMAND[2]]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_line_of_the_readme_defines_a_completion(shell):
    command = [COMMAND[0], "-c", "import sys; sys.argv[0] = 'metafs'; " + COMMAND[2]]
    environment = {**os.environ, "_METAFS_COMPLETE": f"{shell}_source"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert f"_METAFS_COMPLETE={shell}_complete" in done.stdout
    if (found := shutil.which(shell)) is not None:
        syntax = subprocess.run([found, "-n"], input=done.stdout, text=True, check=False)
        assert syntax.returncode == 0


@pytest.mark.parametrize(
    "shell, words, expected",
    [
        ("bash", "metafs nei", "neighbours"),
        ("zsh", "metafs db for", "forget"),
        ("fish", "metafs solve --engine in", "inline"),
        ("bash", "metafs solve --stri", "--strict"),
        ("zsh", "metafs solve demo:di", "demo:digits"),
        ("fish", "metafs solve cust", "file,cust"),  # the shell itself completes files
    ],
)
def test_commands_options_choices_and_sources_are_completed(shell, words, expected):
    assert expected in completed(shell, words)
