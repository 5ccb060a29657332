"""Write the pages that are made from the code, or check that they are not stale.

python docs/generate.py            writes docs/cli.md, docs/hooks.md and docs/decisions/README.md
python docs/generate.py --check    fails if one of them would change
"""

import ast
import inspect
import re
import sys
import textwrap
from pathlib import Path

import click

from metafs.cli.app import cli
from metafs.plugin import hookspecs, protocols
from metafs.plugin.registry import KINDS

DOCS = Path(__file__).parent
NOTE = "<!-- Made by docs/generate.py: change the code, then run it. -->"


def commands(group: click.Group, path: str) -> list[tuple[str, click.Command]]:
    """Return every command with its full name, groups before their members."""
    found = []
    context = click.Context(group, info_name=path)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        found.append((f"{path} {name}", command))
        if isinstance(command, click.Group):
            found += commands(command, f"{path} {name}")
    return found


def cli_page() -> str:
    """Return the help of every command."""
    parts = ["# The command", NOTE]
    for name, command in [("metafs", cli), *commands(cli, "metafs")]:
        context = click.Context(command, info_name=name, max_content_width=100, terminal_width=100)
        parts.append(f"## `{name}`\n\n```text\n{command.get_help(context).rstrip()}\n```")
    return "\n\n".join(parts) + "\n"


def hooks_page() -> str:
    """Return the contract of every hook."""
    parts = ["# The hooks", NOTE, inspect.getdoc(hookspecs).split("\n", 1)[1].strip()]
    for kind in KINDS:
        hook = getattr(hookspecs, f"metafs_{kind}")
        signature = inspect.getsource(hook).split("\n")[1].rstrip(":")
        parts.append(
            f"## `{hook.__name__}`\n\n```python\n{signature}\n```\n\n{inspect.getdoc(hook)}"
        )
    parts.append("# The protocols\n\n" + inspect.getdoc(protocols).split("\n", 1)[1].strip())
    for name, protocol in vars(protocols).items():
        if inspect.isclass(protocol) and protocol.__module__ == protocols.__name__:
            parts.append(f"## `{name}`\n\n{inspect.getdoc(protocol)}")
            parts.append("\n".join(f"- {line}" for line in members(protocol)))
    return "\n\n".join(parts) + "\n"


RECORD = re.compile(r"# (?P<title>.+)\n\nStatus: (?P<status>.+), (?P<date>\d{4}-\d\d-\d\d)\.\n\n")


def decisions_page() -> str:
    """Return the index of the decision records; a number that is missing was given up."""
    parts = [
        "# Decisions",
        "<!-- Made by docs/generate.py from the records in this folder. -->",
        "Choices that a newcomer would question, about ten lines each. What was tried while methods"
        "\nwere tuned is in the [research log](../research-log.md); where a paper leaves room, the"
        "\nmodule's docstring says what we do.",
    ]
    rows = ["| number | decision | status | date |", "|---|---|---|---|"]
    records = sorted((DOCS / "decisions").glob("[0-9]*.md"))
    numbers = [path.name[:4] for path in records]
    for number, path in zip(numbers, records, strict=True):
        if numbers.count(number) > 1:
            sys.exit(f"docs/decisions/{path.name}: {number} is taken; rename the file.")
        record = RECORD.match(path.read_text())
        if record is None:
            sys.exit(
                f"docs/decisions/{path.name}: it must begin with a title line, an empty line and "
                "'Status: accepted, 2026-11-18.' (or 'superseded by 0042, ...')."
            )
        link = f"[{record['title']}]({path.name})"
        rows.append(f"| {number} | {link} | {record['status']} | {record['date']} |")
    return "\n\n".join([*parts, "\n".join(rows)]) + "\n"


def members(protocol: type) -> list[str]:
    """Return a line for each method and property that a protocol declares itself."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(protocol))).body
    lines = []
    for node in tree.body:
        if isinstance(node, ast.AnnAssign):
            lines.append(f"`{ast.unparse(node)}`")
        elif isinstance(node, ast.FunctionDef):
            shown = f"{node.name}({ast.unparse(node.args)}) -> {ast.unparse(node.returns)}"
            lines.append(f"`{shown}`: {ast.get_docstring(node)}")
    return lines


def main() -> None:
    """Write the pages, or check them."""
    pages = {
        DOCS / "cli.md": cli_page(),
        DOCS / "hooks.md": hooks_page(),
        DOCS / "decisions" / "README.md": decisions_page(),
    }
    if "--check" in sys.argv[1:]:
        stale = [
            str(path.relative_to(DOCS))
            for path, text in pages.items()
            if not path.exists() or path.read_text() != text
        ]
        if stale:
            sys.exit(f"stale: {', '.join(stale)}; run: python docs/generate.py")
        return
    for path, text in pages.items():
        path.write_text(text)


if __name__ == "__main__":
    main()
