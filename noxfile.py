"""The test matrix: each Python from 3.11 that is here, with newest and with lowest dependencies.

nox                                          all of it; a Python that is not installed is skipped
nox -l                                       the sessions
nox -s "tests-3.12(lowest)" -- tests/data    one session; what follows -- goes to pytest

It needs uv, which resolves to the lowest versions that ``pyproject.toml`` allows and that have a
wheel for that Python.
"""

import os
from pathlib import Path

import nox

PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
RESOLUTIONS = {"newest": "highest", "lowest": "lowest-direct"}

nox.options.default_venv_backend = "uv"
nox.options.error_on_missing_interpreters = False
nox.options.reuse_existing_virtualenvs = True


def add_pyenv_to_the_path() -> None:
    """Let nox find what pyenv has installed, also where its shims have it switched off."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found = [str(each) for each in sorted(root.glob("versions/3.*/bin"))]
    os.environ["PATH"] = os.pathsep.join([*found, os.environ["PATH"]])


add_pyenv_to_the_path()


@nox.session(python=PYTHONS)
@nox.parametrize("dependencies", list(RESOLUTIONS), ids=list(RESOLUTIONS))
def tests(session: nox.Session, dependencies: str) -> None:
    """Run the tests with one Python and one choice of dependencies."""
    pinned = str(Path(session.create_tmp()) / "requirements.txt")
    wanted = ["pyproject.toml", "--extra", "test", "--python", session.virtualenv.location]
    chosen = ["--resolution", RESOLUTIONS[dependencies], "--no-build", "--output-file", pinned]
    session.run("uv", "pip", "compile", "--quiet", *wanted, *chosen, external=True)
    session.install("--requirement", pinned)
    session.install("--no-deps", "--editable", ".")
    figures = ["--deselect", "tests/test_readme.py::test_commands_print_what_is_shown"]
    ours = [] if dependencies == "newest" else figures  # an older forest draws other trees
    session.run("pytest", *ours, *(session.posargs or ["-n", "auto"]))
