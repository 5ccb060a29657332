"""The `metafs` command: its subcommands, and how errors become sentences."""

import os
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from typing import Any

import click

from metafs.cli.output import echo_message, stdout_for_data
from metafs.data.printable import one_line, printable_lines
from metafs.errors import MetafsError
from metafs.memory import MetaDBError
from metafs.version import __version__

INTERRUPTED = 128 + signal.SIGINT
"""The exit code after Ctrl-C."""


class Sentences(click.Command):
    """A command whose errors are sentences; a traceback only with ``--debug``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        debug = click.Option(["--debug"], is_flag=True, help="Show the traceback of an error.")
        self.params.append(debug)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an error that the user can fix is printed as one sentence."""
        debug = ctx.params.pop("debug")
        ctx.meta["metafs.debug"] = debug
        try:
            with stdout_for_data(ctx):
                return super().invoke(ctx)
        except (MetafsError, MetaDBError) as error:
            if debug:
                echo_message(traceback.format_exc())
            echo_message(f"metafs: {error}")
            ctx.exit(getattr(error, "exit_code", 1))


@contextmanager
def printable_usage_errors() -> Iterator[None]:
    """Take out of click's own messages, which quote the arguments, what steers a terminal."""
    try:
        yield
    except click.UsageError as error:
        message = error.format_message()
        if printable_lines(message) == message:
            raise
        raise click.UsageError(printable_lines(message), error.ctx) from None


class Commands(click.Group):
    """The group, which imports a command's module only when that command is asked for."""

    command_class = Sentences
    MODULES = {  # noqa: RUF012  (a constant, never changed)
        "solve": "metafs.cli.solve",
        "predict": "metafs.cli.predict",
        "transform": "metafs.cli.predict",
        "compare": "metafs.cli.compare",
        "experiment": "metafs.cli.experiment",
        "stability": "metafs.cli.stability",
        "plugins": "metafs.cli.plugins",
        "new-plugin": "metafs.cli.new_plugin",
        "problems": "metafs.cli.lists",
        "runs": "metafs.cli.lists",
        "features": "metafs.cli.features",
        "neighbours": "metafs.cli.neighbours",
        "explain": "metafs.cli.explain",
        "report": "metafs.cli.report",
        "dashboard": "metafs.cli.dashboard",
        "sql": "metafs.cli.sql",
        "db": "metafs.cli.db",
    }

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Parse the options of the group itself."""
        with printable_usage_errors():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Import and run a command; Ctrl-C ends it, which click would call an error."""
        try:
            with printable_usage_errors():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order in which a newcomer meets them."""
        return list(self.MODULES)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is asked for; of an unknown one, say which is meant perhaps."""
        near = [] if args[0] in self.MODULES else get_close_matches(args[0], self.MODULES, n=1)
        if near:
            ctx.fail(f"No such command {args[0]!r}: did you mean {near[0]}?")
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command."""
        if cmd_name not in self.MODULES:
            return None
        module = __import__(self.MODULES[cmd_name], fromlist=[cmd_name])
        command: click.Command = getattr(module, cmd_name.replace("-", "_"))
        return command


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="metafs")
def cli() -> None:
    """Feature selection that remembers.

    Start with: metafs solve demo:digits
    """


def main() -> None:
    """Run the command; a full disk ends it with a sentence."""
    _reserve_stdout()
    try:
        cli(standalone_mode=True)
    except SystemExit as end:
        if end.code != INTERRUPTED:
            raise
        # All is written; an orderly end would only report on workers cut off in the middle.
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(INTERRUPTED)
    except OSError as error:
        with suppress(OSError):  # or Python would write once more what could not be written
            sys.stdout.close()
        sys.stdout = None
        what = one_line(str(error.filename or "the output"))
        sys.exit(f"metafs: cannot read or write {what}: {error.strerror}")


def _reserve_stdout() -> None:
    """Give us a stdout that no other process has; theirs, and that of C code, becomes stderr.

    The processes of ``--jobs``, and programs that a plugin starts, inherit the file and not
    `sys.stdout`.
    """
    given = sys.__stdout__
    if given is None or sys.stdout is not given or sys.stderr is None:
        return  # closed, or replaced by the caller
    given.flush()
    ours = os.dup(given.fileno())
    os.dup2(sys.stderr.fileno(), given.fileno())
    sys.stdout = open(ours, "w", encoding=given.encoding, errors=given.errors)
