"""The docs site: options and keys exist, links to other folders are led."""

import re
import runpy
import shutil
import subprocess
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

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


def built(folder, into="site"):
    """Build the site of a copy of the repository's pages."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", into]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of a copy of the repository's pages, with the site built in it."""
    folder = tmp_path_factory.mktemp("pages")
    shutil.copytree(DOCS, folder / "docs", ignore=shutil.ignore_patterns("__pycache__"))
    for path in ROOT.glob("[!.]*"):
        if path.name not in ("docs", "site"):
            (folder / path.name).symlink_to(path)
    done = built(folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def served(site):
    """The address of the site: only a site that is served may start the worker that searches."""
    handler = partial(QuietHandler, directory=site / "site")
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        """Say nothing."""


@pytest.mark.parametrize("width, dark", [(390, True), (1280, False)], ids=["narrow", "wide"])
@pytest.mark.parametrize("page", ["index", "papers", "benchmarks", "how-to/sql-cookbook"])
def test_a_page_of_the_site_fits_the_window_and_follows_its_theme(
    served, browse, axe, page, width, dark
):
    chromium = browse(f"{served}/{page}.html", width, dark)
    assert chromium.execute_script("return document.documentElement.scrollWidth") <= width
    theme = chromium.execute_script("return document.documentElement.dataset.bsTheme")
    assert theme == ("dark" if dark else "light")
    assert axe() == []


def test_the_site_fetches_nothing_and_a_dead_link_is_an_error(site):
    pages = list((site / "site").rglob("*.html"))
    assert len(pages) > 50
    for page in pages:
        assert not re.search(r'<(script|img|link)\b[^>]*(src|href)="(https?:)?//', page.read_text())
    with (site / "docs" / "index.md").open("a") as index:
        index.write("\n[dead](nowhere.md)\n")
    failed = built(site, "not-built")
    assert failed.returncode != 0
    assert "nowhere.md" in failed.stderr
