"""`metafs new-plugin`: projects of every kind keep their contract, type-check and install."""

import json
import os
import subprocess
import sys
from functools import partial
from importlib import import_module
from pathlib import Path

import pytest

from metafs.plugin.registry import KINDS
from metafs.testing import cases_of

from . import running

KINDS = [kind.removesuffix("s") for kind in KINDS]

run = partial(running.run, "new-plugin")


def name_of(kind):
    return f"my_{kind}"


def folder_of(kind):
    return f"metafs-my-{kind}"


@pytest.fixture(scope="module")
def projects(tmp_path_factory):
    """A project of every kind, in one folder."""
    folder = tmp_path_factory.mktemp("projects")
    for kind in KINDS:
        run(name_of(kind), "--kind", kind, "--folder", folder / folder_of(kind))
    return folder


def command(*arguments, cwd, **environment):
    done = subprocess.run(
        [sys.executable, "-m", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("kind", KINDS)
def test_a_project_is_complete_and_keeps_the_contract(projects, kind, monkeypatch):
    project, name = projects / folder_of(kind), name_of(kind)
    written = {str(path.relative_to(project)) for path in project.rglob("*") if path.is_file()}
    package = {f"metafs_{name}/__init__.py", f"metafs_{name}/py.typed", f"tests/test_{name}.py"}
    assert {"pyproject.toml", "README.md", *package} <= written
    for path in written:
        text = (project / path).read_text()
        assert "newplugin" not in text.lower().replace("new-plugin", ""), path
        assert "$" not in text, path
    monkeypatch.syspath_prepend(str(project))
    cases = cases_of(import_module(f"metafs_{name}"))
    assert {(case.offer.kind, case.offer.name) for case in cases} == {(f"{kind}s", f"my-{kind}")}
    for case in cases:
        case()


def test_all_of_them_type_check_and_are_formatted(projects):
    packages = [f"{folder_of(kind)}/metafs_{name_of(kind)}" for kind in KINDS]
    tests = [f"{folder_of(kind)}/tests" for kind in KINDS]
    mypy = ["mypy", "--strict", "--config-file=", "--cache-dir", projects / "cache", *packages]
    assert "no issues found in 6 source files" in command(*mypy, cwd=projects)
    style = ["--isolated", "--line-length", "100", *packages, *tests]
    command("ruff", "format", "--check", *style, cwd=projects)
    command("ruff", "check", "--select", "E,F,UP,B,RUF", *style, cwd=projects)


def test_one_installs_passes_its_own_tests_and_is_listed(projects):
    project, site = projects / folder_of("selector"), projects / "site"
    pip = ["pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index"]
    command(*pip, "--no-build-isolation", "--target", site, project, cwd=projects)
    assert (site / "metafs_my_selector" / "py.typed").exists()
    path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    command("pytest", "-q", "-p", "no:cacheprovider", "-W", "error", cwd=project, PYTHONPATH=path)
    command("mypy", "--cache-dir", projects / "cache", cwd=project, PYTHONPATH=path)
    listed = subprocess.run(
        [*running.COMMAND, "plugins", "--kind", "selectors", "--json"],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    mine = [row for row in json.loads(listed.stdout) if row["name"] == "my-selector"]
    assert [(row["package"], row["version"]) for row in mine] == [("metafs-my-selector", "0.1.0")]
    again = subprocess.run(
        [*running.COMMAND, "new-plugin", "my_selector", "--kind", "learner"],
        env={**os.environ, "PYTHONPATH": path},
        cwd=projects,
        capture_output=True,
        text=True,
        check=False,
    )
    assert again.returncode == 2
    assert "the name 'my-selector' is taken by plugin my-selector" in again.stderr


def test_it_says_what_to_do_next(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = run("near_miss", "--kind", "distance").stdout
    assert Path("metafs-near-miss/metafs_near_miss/__init__.py").exists()
    assert "cd metafs-near-miss" in told
    assert "metafs solve demo:digits --distance near-miss" in told


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("my-own", "such as my_own."),
        ("9lives", "such as lives."),
        ("a/../b", "cannot name a package"),
        ("ünïcode", "cannot name a package"),
        ("end_", "such as end."),
        ("climb", "the name 'climb' is taken by plugin climb"),
        ("svm_rfe", "the name 'svm-rfe' is taken by plugin svm"),
        ("metadb", "the package metafs_metadb is installed already"),
    ],
)
def test_a_name_that_cannot_be_used_is_refused(tmp_path, name, says):
    result = run(name, "--kind", "selector", "--folder", tmp_path / "p", code=2)
    assert says in result.stderr
    assert not (tmp_path / "p").exists()


def test_nothing_is_overwritten(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    result = run("fresh", "--kind", "measure", "--folder", tmp_path, code=2)
    assert "is not empty: give another --folder" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    (tmp_path / "empty").mkdir()
    run("fresh", "--kind", "measure", "--folder", tmp_path / "empty")
