"""A newcomer's first half hour: the quick start, followed to the letter in a new folder."""

import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "quick-start.md"
MARKED = re.compile(r"<!-- first half hour -->\n```bash\n(.*?)```\n<!-- end -->", re.DOTALL)
INSTALLS = ("python3 -m venv", "source .venv/", "pip install")


def test_every_command_of_the_quick_start_works(tmp_path):
    """One shell for all, as a newcomer has; what installs was done for the tests already."""
    page = PAGE.read_text()
    blocks = MARKED.findall(page)
    assert len(blocks) == page.count("```bash\n") > 4
    lines = [
        line for block in blocks for line in block.splitlines() if not line.startswith(INSTALLS)
    ]
    tools = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    ours = {name: value for name, value in os.environ.items() if not name.startswith("METAFS_")}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(lines)],
        cwd=tmp_path,
        env={**ours, "PATH": tools},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "45 solved, 0 skipped, 0 failed" in done.stderr
    assert "3 solved, 0 skipped, 0 failed" in done.stderr
    assert (tmp_path / "report.html").read_text().startswith("<!")
    assert len((tmp_path / "predicted.csv").read_text().splitlines()) == 151
    assert "prediction,probability_no,probability_yes" in done.stdout
    assert "shops.duckdb is clean." in done.stdout
