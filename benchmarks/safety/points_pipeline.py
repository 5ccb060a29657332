"""What a harmful plugin, a death or Ctrl-C costs a stream, and what resuming it changes."""

import os
import signal
import subprocess
import time
from pathlib import Path

from command import Installation

# Problems over common features; the one with 61 rows is the one on which HARM is done.
STREAM = """
import os, sys, time, ctypes, signal, threading
import numpy as np
from sklearn.base import BaseEstimator
from metafs import Problem, solve

def related(number, n=60):
    rng = np.random.default_rng(number)
    X = (rng.random((n, 12)) < 0.4).astype(float)
    useful = (number // 3) % 4
    y = np.where(X[:, useful] + X[:, useful + 1] >= 1, "yes", "no")
    names = [f"w{j}" for j in range(12)]
    return Problem.of(X, y, feature_names=names, name=f"problem {number}")

class Ended(BaseException):
    pass

def ends():
    raise Ended

HARM = {
    "os._exit": lambda X, y: os._exit(3),
    "crash": lambda X, y: ctypes.string_at(0),
    "BaseException": lambda X, y: ends(),
    "chdir": lambda X, y: os.chdir("/"),
    "threads": lambda X, y: threading.Thread(target=time.sleep, args=(600,)).start(),
    "X": lambda X, y: X.__imul__(0),
    "y": lambda X, y: y.__imul__(0),
}

class Harmful(BaseEstimator):
    def __init__(self, way="chdir", always=False):
        self.way, self.always = way, always
    def fit(self, X, y):
        self.support_ = np.ones(X.shape[1], dtype=bool)
        if len(X) == 61:
            HARM[self.way](X, y)
        return self

QUICK = {"budget": 200, "folds": 2}
"""

RESUME = f"""{STREAM}
stream = [related(number) for number in range(12)]
def neighbours(told):
    return {{each.problem: each.neighbours for each in told if each.status == "solved"}}
whole = neighbours(solve(stream, db="whole.duckdb", wave=6, **QUICK))
going = solve(stream, db="parts.duckdb", wave=6, **QUICK)
found = neighbours(next(going) for _ in range(8))
going.close()
found |= neighbours(solve(stream, db="parts.duckdb", wave=6, **QUICK))
print(sum(found[name] != whole[name] for name in whole), "of 12 recall other problems")
"""


def resumed(installation: Installation, folder: Path) -> str:
    done = installation.python(RESUME, cwd=folder, timeout=600)
    return done.out.strip() or f"exit code {done.code}"


SLEEPING = f"""{STREAM}
class Sleeps(BaseEstimator):
    def fit(self, X, y):
        open(f"pid{{os.getpid()}}", "w").close()
        time.sleep(600)
if __name__ == "__main__":
    list(solve([related(0), related(1)], db=None, selector=Sleeps(), wave=2, jobs=2,
               engine=sys.argv[1]))
"""


def outliving(engine: str) -> object:
    def look(installation: Installation, folder: Path) -> str:
        script = folder / "sleeping.py"
        script.write_text(SLEEPING)
        parent = subprocess.Popen(
            [installation.bin / "python", script, engine], cwd=folder, stderr=subprocess.DEVNULL
        )
        limit = time.monotonic() + 300
        while len(list(folder.glob("pid*"))) < 2 and time.monotonic() < limit:
            time.sleep(0.1)
        parent.kill()
        parent.wait()
        time.sleep(5)
        left = [int(path.name[3:]) for path in folder.glob("pid*")]
        alive = [pid for pid in left if _alive(pid)]
        for pid in alive:
            os.kill(pid, signal.SIGKILL)
        return f"{len(alive)} of {len(left)} workers alive after 5 s"

    return look


def _alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rsplit(")", 1)[1].split()[0] not in "ZX"


DYING = f"""{STREAM}
if __name__ == "__main__":
    stream = [related(number, 61 if number == 2 else 60) for number in range(6)]
    told = solve(stream, db=None, selector=Harmful("os._exit"), wave=6, jobs=2, folds=2,
                 engine=sys.argv[1])
    print(sum(each.status == "failed" for each in told), "of 6 problems failed")
"""


def dying(engine: str) -> object:
    def look(installation: Installation, folder: Path) -> str:
        script = folder / "dying.py"
        script.write_text(DYING)
        code = "import runpy, sys; runpy.run_path(sys.argv[1], run_name='__main__')"
        code = f"import sys; sys.argv = sys.argv[1:]; {code.replace('argv[1]', 'argv[0]')}"
        done = installation.python(code, script, engine, cwd=folder, timeout=600)
        return done.out.strip() or f"exit code {done.code}"

    return look


def interrupted(*options: str) -> object:
    def look(installation: Installation, folder: Path) -> str:
        process = subprocess.Popen(
            [installation.bin / "metafs", "solve", "demo:digits", "--json", *options],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.5)
        os.killpg(process.pid, signal.SIGINT)
        try:
            _, messages = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return "did not end within 60 s"
        ours = ("stopped:", "memory:")
        noise = [
            line
            for line in messages.splitlines()
            if line and not line.startswith(ours) and " skipped, " not in line
        ]
        return f"exit code {process.returncode}, {len(noise)} lines of noise"

    return look


HARMED = f"""{STREAM}
told = solve([related(0), related(1, 61), related(2)], db="m.duckdb",
             selector=Harmful(sys.argv[1]), folds=2)
for each in told:
    print(each.status, flush=True)
where = "elsewhere" if os.getcwd() == "/" else ""
left = f"{{threading.active_count() - 1}} threads left" if threading.active_count() > 1 else ""
print(*filter(None, ["ended", where, left]), flush=True)
os._exit(0)
"""


def harmed(installation: Installation, folder: Path) -> str:
    seen = []
    for way in ("os._exit", "crash", "BaseException", "chdir", "threads"):
        own = folder / way
        own.mkdir()
        done = installation.python(HARMED, way, cwd=own)
        lines = done.out.split("\n")
        n_solved = lines.count("solved")
        ended = next((line[6:] for line in lines if line.startswith("ended")), "the stream ended")
        seen.append(f"{way}: {n_solved} of 3 solved" + (f", {ended}" if ended else ""))
    return "; ".join(seen)


CHANGED = f"""{STREAM}
(told,) = solve(related(0, 61), db=None, selector=Harmful(sys.argv[1]), folds=2)
print(f"score {{told.score:.2f}}" if told.status == "solved" else "failed")
"""

CHANGED_BY_CALLER = f"""{STREAM}
from metafs import MetaSelector
from sklearn.feature_selection import SelectorMixin
class Selector(SelectorMixin, Harmful):
    def _get_support_mask(self):
        return self.support_
X, y = np.array(related(0, 61).X), np.arange(61) % 2
before = X.copy()
try:
    MetaSelector(Selector("X")).fit(X, y)
except ValueError:
    pass
print("its caller's X", "is as it was" if np.array_equal(X, before) else "has changed")
"""


def changed(installation: Installation, folder: Path) -> str:
    told = [installation.python(CHANGED, what, cwd=folder).out.strip() for what in ("X", "y")]
    caller = installation.python(CHANGED_BY_CALLER, cwd=folder).out.strip()
    return f"X: {told[0]}; y: {told[1]}; MetaSelector: {caller}"


THREADS = """
import os, sys, time
import numpy as np
from metafs import MetaSelector
rng = np.random.default_rng(0)
X = rng.normal(size=(100, 2000))
y = (X[:, 0] + X[:, 1] > 0).astype(int)
started = time.perf_counter()
MetaSelector("svm-rfe", params={"n_features_to_select": 10}).fit(X, y)
print(time.perf_counter() - started)
"""


def threads(installation: Installation, folder: Path) -> str:
    """Beside one busy process for each core, as in a stream with jobs, or on a shared machine."""
    busy = [
        subprocess.Popen([installation.bin / "python", "-c", "while True: pass"])
        for _ in range(os.cpu_count() or 1)
    ]
    try:
        own = min(float(installation.python(THREADS, cwd=folder, timeout=600).out) for _ in "123")
        limited = "import os; os.environ['OPENBLAS_NUM_THREADS'] = '1'\n" + THREADS
        one = min(float(installation.python(limited, cwd=folder, timeout=600).out) for _ in "123")
    finally:
        for process in busy:
            process.kill()
            process.wait()
    return f"{own:.1f} s, {own / one:.1f} times what one thread takes"


# `wave` is the name that versions before `batch` know too.
DASK = ("--wave", "4", "--jobs", "2", "--engine", "dask")
POINTS = [
    ("3a", "a stream of batches of 6, resumed after 8 problems", resumed),
    ("3b", "kill -9 of the parent, two jobs", outliving("local")),
    ("3c", "kill -9 of the parent, Dask", outliving("dask")),
    ("3d", "a plugin ends its process on 1 of 6 problems, two jobs", dying("local")),
    ("3e", "the same, Dask", dying("dask")),
    ("3f", "Ctrl-C in a terminal, one job", interrupted()),
    ("3g", "Ctrl-C in a terminal, two jobs", interrupted("--wave", "4", "--jobs", "2")),
    ("3h", "Ctrl-C in a terminal, Dask", interrupted(*DASK)),
    ("4d", "a plugin harms its process on the second of 3 problems, one job", harmed),
    ("9a", "a selector multiplies X or y by 0 in place", changed),
    ("10a", "svm-rfe of 100 x 2000 beside busy processes", threads),
]
