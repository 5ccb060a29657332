"""The docs site: options and keys exist, links to other folders are led."""

import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from metafs.cli.app import cli

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [DOCS / "index.md", DOCS / "quick-start.md", *sorted(DOCS.glob("how-to/*.md"))]


def commands_of(page):
    """Return the words of every ``metafs ...`` in the bash blocks of a page."""
    blocks = "\n".join(re.findall(r"```bash\n(.*?)```", page.read_text(), re.DOTALL))
    return [line.split("#")[0].split() for line in re.findall(r"\bmetafs ([a-z].*)", blocks)]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_commands_and_options_exist(page):
    for name, *words in commands_of(page):
        command = cli.get_command(click.Context(cli), name)
        if name == "db":
            command = command.get_command(click.Context(command), words.pop(0))
        known = {option for each in command.params for option in each.opts}
        given = {word for word in words if re.fullmatch(r"--?[a-z-]+", word)}
        assert given <= known, f"{page.name}: metafs {name} has no {given - known}"


def test_links_out_of_the_folder_lead_to_pages_of_the_site():
    for_site = runpy.run_path(str(DOCS / "outside_pages.py"))["for_site"]
    assert for_site("[a](../../metadb/README.md#b)", "how-to/x.md") == "[a](../metadb.md#b)"
    assert for_site("[a](../examples/few_labels.py)", "x.md") == "[a](examples/few_labels.md)"
    assert for_site("[a](../docs/cli.md)", "benchmarks.md") == "[a](cli.md)"
    assert for_site("[the core](../metafs)", "x.md") == "the core (`metafs`)"
    assert for_site("[a](cli.md) [b](nowhere.md)", "x.md") == "[a](cli.md) [b](nowhere.md)"


def built(folder):
    """Build the site of a copy of the repository's pages."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_site_fetches_nothing_and_a_dead_link_is_an_error(tmp_path):
    shutil.copytree(DOCS, tmp_path / "docs", ignore=shutil.ignore_patterns("__pycache__"))
    for path in ROOT.glob("[!.]*"):
        if path.name not in ("docs", "site"):
            (tmp_path / path.name).symlink_to(path)
    done = built(tmp_path)
    assert done.returncode == 0, done.stderr
    pages = list((tmp_path / "site").rglob("*.html"))
    assert len(pages) > 50
    for page in pages:
        assert not re.search(r'<(script|img|link)\b[^>]*(src|href)="(https?:)?//', page.read_text())
    with (tmp_path / "docs" / "index.md").open("a") as index:
        index.write("\n[dead](nowhere.md)\n")
    failed = built(tmp_path)
    assert failed.returncode != 0
    assert "nowhere.md" in failed.stderr
