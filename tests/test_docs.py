"""README, tutorials, examples and generated pages: what they show is what happens."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

import metafs

from .cli.running import write_digits

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
EXAMPLES = [  # those whose output the README shows are run by test_readme.py
    path
    for path in sorted((ROOT / "examples").glob("*.py"))
    if f"<!-- printed by: python examples/{path.name} -->" not in README
]
PLUGIN = ROOT / "examples" / "plugin"
PAIRS = [(0, 1), (0, 2), (1, 2), (3, 8), (4, 9)]

pytestmark = pytest.mark.long


def blocks(path, language):
    return re.findall(rf"```{language}\n(.*?)```", path.read_text(), flags=re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(example, tmp_path):
    done = subprocess.run(
        [sys.executable, str(example)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") >= 3
    assert list(tmp_path.iterdir()) == []


def test_generated_pages_are_not_stale():
    subprocess.run([sys.executable, str(ROOT / "docs" / "generate.py"), "--check"], check=True)


def test_the_tutorial_shows_the_plugin_that_is_tested():
    tutorial = ROOT / "docs" / "plugins.md"
    shown = blocks(tutorial, "python")[1:] + blocks(tutorial, "toml")
    files = ["correlation_selector.py", "test_correlation_selector.py", "pyproject.toml"]
    assert shown == [(PLUGIN / name).read_text() for name in files]


def test_one_name_and_version_for_the_distribution():
    """The name metafs on the public index is another project's: nobody may depend on it."""
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["name"]
    assert version(ours) == metafs.__version__
    plugin = tomllib.loads((PLUGIN / "pyproject.toml").read_text())["project"]
    assert plugin["dependencies"] == [ours]
    pages = [*ROOT.glob("*.md"), *ROOT.glob("[!.]*/**/*.md"), *ROOT.glob("metafs/**/*.py")]
    for page in pages:
        assert not re.search(r"pip install (-\S+ )*['\"]?metafs\b(?!-)", page.read_text()), page


def test_links_lead_somewhere():
    pages = [*ROOT.glob("*.md"), *ROOT.glob("*/README.md"), *ROOT.glob("docs/**/*.md")]
    assert len(pages) > 6
    for page in pages:
        for link in re.findall(r"\]\((?!http)([^)#]+)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_the_queries_of_the_readme_are_answered(tmp_path):
    readme = "\n".join(blocks(ROOT / "README.md", "bash"))
    queries = re.findall(r'metafs sql "(.*?)"( -p \S+)?', readme, flags=re.DOTALL)
    assert len(queries) == 2
    environment = {**os.environ, "METAFS_DB": str(tmp_path / "m.duckdb")}
    write_digits(tmp_path, tmp_path / "digits.toml", PAIRS)
    quick = ["--folds", "2", "--selector", "infogain"]
    run(["solve", str(tmp_path / "digits.toml"), *quick], environment)
    for query, parameters in queries:
        query = query.replace("\\$", "$")
        rows = json.loads(run(["sql", query, "--json", *parameters.split()], environment))
        assert rows, query


def run(arguments, environment):
    """Run the real command in a process of its own."""
    code = "from metafs.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Copy the tutorial's plugin into a folder of its own and install it with pip."""
    folder = tmp_path_factory.mktemp("author")
    shutil.copytree(PLUGIN, folder / "project")
    site = folder / "site"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--target", str(site)]
    subprocess.run([*pip, *options, str(folder / "project")], check=True)
    path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    return folder, {**os.environ, "PYTHONPATH": path, "METAFS_DB": str(folder / "m.duckdb")}


def test_an_installed_plugin_is_listed_with_its_package(installed):
    _, environment = installed
    rows = json.loads(run(["plugins", "--json"], environment))
    mine = [row for row in rows if row["package"] == "correlation-selector"]
    assert [(row["kind"], row["name"], row["version"]) for row in mine] == [
        ("selectors", "correlation", "0.1.0"),
        ("measures", "correlation", "0.1.0"),
    ]


def test_an_installed_plugin_solves_the_stream_by_name(installed):
    folder, environment = installed
    write_digits(folder, folder / "digits.toml", PAIRS)
    chosen = ["--selector", "correlation", "--param", "n_features_to_select=5", "--folds", "2"]
    lines = run(["solve", str(folder / "digits.toml"), "--json", *chosen], environment).splitlines()
    results = [json.loads(line) for line in lines]
    assert len(results) == len(PAIRS)
    assert {each["status"] for each in results} == {"solved"}
    assert {len(each["features"]) for each in results} == {5}
    rows = json.loads(run(["sql", "select distinct selector from run", "--json"], environment))
    assert rows == [{"selector": "correlation"}]


def test_an_installed_plugin_passes_the_contract(installed):
    folder, environment = installed
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error"]
    subprocess.run(command, cwd=folder / "project", env=environment, check=True)


def checked_types(folder, name):
    """Type-check a module of a plugin as its author would, with nothing of our settings."""
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(folder / "cache"), name]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_plugin_type_checks_against_the_protocols(tmp_path):
    tutorial = blocks(ROOT / "docs" / "plugins.md", "python")
    (tmp_path / "whole.py").write_text(tutorial[1])
    (tmp_path / "wrong.py").write_text(
        "from metafs.plugin import Distance, Measure, hookimpl\n\n\n"
        "class Bad:\n    in_sql = True\n\n"
        "    def signature(self, problem: int) -> int:\n        return 1\n\n\n"
        "@hookimpl\ndef metafs_distances() -> dict[str, Distance]:\n    return {'bad': Bad()}\n\n\n"
        "@hookimpl\ndef metafs_measures() -> dict[str, Measure]:\n    return {'bad': len}\n"
    )
    right = checked_types(tmp_path, "whole.py")
    assert right.returncode == 0, right.stdout
    wrong = checked_types(tmp_path, "wrong.py")
    assert wrong.stdout.count("[dict-item]") == 2, wrong.stdout
