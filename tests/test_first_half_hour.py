"""A newcomer's first half hour: the quick start, followed to the letter in a new folder."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from metafs_metadb import MetaDB

DOCS = Path(__file__).parent.parent / "docs"
PAGE = (DOCS / "quick-start.md").read_text()
COOKBOOK = (DOCS / "how-to" / "sql-cookbook.md").read_text()
MARKED = re.compile(r"<!-- first half hour -->\n```bash\n(.*?)```\n<!-- end -->", re.DOTALL)
QUERY = re.compile(r"(<!-- may be empty -->\n)?```sql\n(.*?)```", re.DOTALL)
INSTALLS = ("python3 -m venv", "source .venv/", "pip install")

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def followed(tmp_path_factory):
    """One shell for all, as a newcomer has; what installs was done for the tests already."""
    folder = tmp_path_factory.mktemp("newcomer")
    lines = [
        line
        for block in MARKED.findall(PAGE)
        for line in block.splitlines()
        if not line.startswith(INSTALLS)
    ]
    tools = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    ours = {name: value for name, value in os.environ.items() if not name.startswith("METAFS_")}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(lines)],
        cwd=folder,
        env={**ours, "PATH": tools},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return folder, done


def test_every_command_of_the_quick_start_works(followed):
    folder, done = followed
    assert len(MARKED.findall(PAGE)) == PAGE.count("```bash\n") > 4
    assert done.returncode == 0, done.stderr
    assert "45 solved, 0 skipped, 0 failed" in done.stderr
    assert "3 solved, 0 skipped, 0 failed" in done.stderr
    assert (folder / "report.html").read_text().startswith("<!")
    assert len((folder / "predicted.csv").read_text().splitlines()) == 151
    assert "prediction,probability_no,probability_yes" in done.stdout
    assert "shops.duckdb is clean." in done.stdout


def test_the_queries_of_the_cookbook_are_answered(followed):
    """They are of the memory that the quick start makes."""
    made = re.search(r"`(metafs solve demo:digits [^`]*)`", COOKBOOK)[1]
    assert f"\n{made}\n" in PAGE
    queries = QUERY.findall(COOKBOOK)
    assert len(queries) > 9
    for may_be_empty, query in queries:
        _, rows = MetaDB(followed[0] / "metafs.duckdb").sql(query)
        assert rows or may_be_empty, query
