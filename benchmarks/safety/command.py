"""Run the metafs of any installation, so that one script can look at two versions."""

import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Installation:
    """A virtual environment in which metafs is installed."""

    bin: Path

    def metafs(self, *words: object, cwd: Path, timeout: float = 120.0) -> "Outcome":
        """Run the command and return what came of it."""
        return self._run([self.bin / "metafs", *words], cwd, timeout)

    def python(self, code: str, *words: object, cwd: Path, timeout: float = 120.0) -> "Outcome":
        """Run Python code with that metafs and return what came of it."""
        return self._run([self.bin / "python", "-c", code, *words], cwd, timeout)

    @staticmethod
    def _run(words: list[object], cwd: Path, timeout: float) -> "Outcome":
        try:
            done = subprocess.run(
                [str(word) for word in words],
                cwd=cwd,
                capture_output=True,
                timeout=timeout,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            return Outcome(None, "", "")
        return Outcome(
            done.returncode,
            done.stdout.decode(errors="replace"),
            done.stderr.decode(errors="replace"),
        )


@dataclass(frozen=True)
class Outcome:
    """Exit code (None: it had to be stopped), standard output and standard error."""

    code: int | None
    out: str
    err: str

    @property
    def traceback(self) -> bool:
        """Whether a traceback was printed."""
        return "Traceback (most recent call last)" in self.out + self.err
