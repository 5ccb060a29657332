"""docs/papers.md: every module, name, option, test and script that it names exists."""

import re
from functools import reduce
from importlib import import_module
from pathlib import Path

import click
import pytest

from metafs import Registry
from metafs.cli.app import cli
from metafs.pipeline.presets import PRESETS
from metafs.pipeline.settings import QUALITIES
from metafs.stats.scorers import scorer_named
from metafs.transfer.expectation import TRANSFERS

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "papers.md"
CODE = re.findall(r"`([^`]+)`", PAGE.read_text())
KINDS = {
    "--selector": "selectors",
    "--learner": "learners",
    "--distance": "distances",
    "--regressor": "regressors",
}
OFFERED = {"measure": "measures", "regressor": "regressors"}


def tokens(pattern):
    return sorted({code for code in CODE if re.fullmatch(pattern, code)})


def found(name):
    """Return what a dotted name stands for: a module, or something in one."""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            module = import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        return reduce(getattr, parts[cut:], module)
    raise ModuleNotFoundError(name)


@pytest.mark.parametrize("name", tokens(r"metafs\w*(\.\w+)*"))
def test_a_module_or_name_exists(name):
    assert found(name) is not None


@pytest.mark.parametrize("name", tokens(r"tests/\S+"))
def test_a_test_exists(name):
    path, _, function = name.partition("::")
    text = (ROOT / path).read_text()
    assert re.search(rf"^def {function}\(" if function else r"^def test_", text, re.MULTILINE)


@pytest.mark.parametrize("line", tokens(r"benchmarks/\w+\.py.*"))
def test_a_script_and_its_options_exist(line):
    script, *words = line.split()
    text = (ROOT / script).read_text()
    for option in (word for word in words if word.startswith("--")):
        assert f'"{option}"' in text, f"{script} has no {option}"


@pytest.mark.parametrize("line", tokens(r"(metafs [a-z]+)?( ?--.*)?"))
def test_options_and_what_they_name_exist(line):
    words = line.split()
    command = cli.get_command(click.Context(cli), words[1] if words[0] == "metafs" else "solve")
    known = {option for each in command.params for option in each.opts}
    pairs = [*zip(words, [*words[1:], ""], strict=True)]
    assert {word for word in words if word.startswith("--")} <= known
    registry = Registry()
    given = dict(pairs)
    for option, kind in KINDS.items():
        if option in given:
            assert given[option] in getattr(registry, kind)
    for option, names in {
        "--preset": PRESETS,
        "--transfer": TRANSFERS,
        "--quality": QUALITIES,
    }.items():
        assert option not in given or set(given[option].split("|")) <= set(names)
    if "--scoring" in given:
        scorer_named(given["--scoring"])
    for option, setting in pairs:
        if option == "--param":
            name, _, value = setting.partition("=")
            parameters = registry.selectors[given["--selector"]].get_params()
            if name.startswith("measure__"):
                name = name.removeprefix("measure__")
                parameters = vars(registry.measures["mi-confidence"])
            assert name in parameters
            if name in OFFERED:
                assert value in getattr(registry, OFFERED[name])


@pytest.mark.parametrize("expression", tokens(r"Registry\(\).*"))
def test_what_the_registry_is_asked_for_is_there(expression):
    kind, name = re.fullmatch(r'Registry\(\)\.(\w+)\["([\w-]+)"\]', expression).groups()
    assert name in getattr(Registry(), kind)


def test_every_row_says_where_it_is_or_why_not():
    """A row names something that exists, or says what is missing."""
    lines = PAGE.read_text().splitlines()
    rows = [line for line in lines if re.match(r"\| (?!section|figures)", line)]
    assert len(rows) > 60
    for row in rows:
        assert "`" in row or "not there" in row or "not yet" in row or "at hand" in row, row
