"""A dashboard in a process of its own, and a client for it."""

import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import metafs
from metafs import Problem

pytest.importorskip("starlette", reason="starlette is not installed")
pytest.importorskip("uvicorn", reason="uvicorn is not installed")

COMMAND = [sys.executable, "-c", "from metafs.cli import main; main()", "dashboard"]


class Client:
    """Asks the dashboard, and keeps nothing."""

    def __init__(self, address):
        self.address = address
        self.root = address.partition("?")[0]

    def ask(self, path="", data=None, **headers):
        """Return status, headers and text; redirections are not followed."""
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(self.root + path, data=data, headers=names)
        try:
            with urllib.request.build_opener(Stay).open(request, timeout=120) as answer:
                return answer.status, answer.headers, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read().decode()

    def sql(self, body, **headers):
        own = {"Content_Type": "application/json", "X_Metafs": "sql"} | headers
        return self.ask("sql", body.encode(), **own)


class Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *arguments):
        return None


@contextmanager
def serving(*arguments):
    """A dashboard with these arguments; gives its client, and ends it."""
    command = [*COMMAND, *map(str, arguments)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            line = process.stderr.readline()
            assert " is shown at " in line, line + process.stderr.read()
            client = Client(line.split(" at ")[1].split()[0])
            client.process = process
            yield client
        finally:
            process.terminate()


def related(number):
    rng = np.random.default_rng(number)
    X = (rng.random((60, 6)) < 0.4).astype(float)
    y = np.where(X[:, 0] + X[:, number % 3] >= 1, "yes", "no")
    return Problem.of(X, y, feature_names=[*"abcdef"], name=f"problem {number}")


def solve(path, *numbers):
    settings = {"space": "letters", "selector": "infogain", "folds": 2}
    for each in metafs.solve([related(n) for n in numbers], db=path, **settings):
        assert each.status == "solved", each.error


@pytest.fixture(scope="module")
def memory(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("dashboard") / "m.duckdb"
    solve(path, 0, 1)
    return path


@pytest.fixture(scope="module")
def client(memory):
    with serving("--db", memory) as client:
        yield client
