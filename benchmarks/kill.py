"""Kill `metafs solve demo:digits` at random moments, resume it, and look for damage.

At the end there must be 45 problems, each solved once, and `db check` must be clean.
"""

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from metafs_metadb import MetaDB


def solve(db: Path, *options: str) -> subprocess.Popen[bytes]:
    code = "import sys; from metafs.cli import main; sys.argv[0] = 'metafs'; main()"
    return subprocess.Popen(
        [sys.executable, "-c", code, "solve", "demo:digits", "--db", str(db), *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def problems_in(db: Path) -> int:
    return len(MetaDB(db).problems().rows) if db.exists() else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--longest", type=float, default=4.0, help="seconds before a kill, at most")
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    options = ("--budget", "100", "--folds", "2")
    with tempfile.TemporaryDirectory() as folder:
        db = Path(folder) / "killed.duckdb"
        solved_after_kills, streams = [], 1
        for _ in range(arguments.kills):
            if problems_in(db) == 45:  # the stream is done: begin another with other settings
                options = ("--budget", "100", "--folds", "2", "--seed", str(streams))
                streams += 1
            process = solve(db, *options)
            time.sleep(rng.uniform(0.5, arguments.longest))
            process.send_signal(signal.SIGKILL)
            process.wait()
            solved_after_kills.append(problems_in(db))
        assert solve(db, *options).wait() == 0
        findings = MetaDB(db).check()
        _, rows = MetaDB(db).sql(
            "select count(distinct problem_id), count(distinct (problem_id, settings)), count(*) "
            "from run where status = 'solved'"
        )
        problems, distinct, runs = next(iter(rows))
    print(f"kills: {arguments.kills}; problems after each: {solved_after_kills}")
    print(f"problems: {problems}; runs: {runs}, of which distinct: {distinct}")
    print(f"db check: {findings or 'clean'}")
    if problems != 45 or runs != distinct or findings:
        sys.exit(1)


if __name__ == "__main__":
    main()
