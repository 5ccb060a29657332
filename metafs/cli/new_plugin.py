"""`metafs new-plugin`: a project with a working plugin, its tests and its types."""

import re
from collections.abc import Mapping
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from string import Template

import click

from metafs.cli.app import Sentences
from metafs.cli.output import echo_line
from metafs.data.printable import printable
from metafs.errors import UsageError
from metafs.plugin.registry import KINDS, Registry, installed_entry_points

NAME = re.compile(r"[A-Za-z]([A-Za-z0-9_]*[A-Za-z0-9])?")
USE: Mapping[str, str] = {
    "selector": "metafs solve demo:digits --selector newplugin",
    "learner": "metafs solve demo:digits --selector fisher --learner newplugin",
    "measure": "metafs solve demo:digits --selector mf-pfs --param quality=newplugin",
    "distance": "metafs solve demo:digits --distance newplugin",
    "regressor": "metafs solve demo:digits --regressor newplugin",
    "generator": 'python -c "from metafs import Registry; '
    "print(Registry().generators['newplugin'])\"",
}
"""How a plugin of each kind is tried."""


@click.command("new-plugin", cls=Sentences)
@click.argument("name")
@click.option(
    "--kind",
    type=click.Choice([kind.removesuffix("s") for kind in KINDS]),
    required=True,
    help="What the plugin offers.",
)
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Folder of the project, new or empty.  [default: metafs-NAME]",
)
def new_plugin(name: str, kind: str, folder: Path | None) -> None:
    """Write a plugin project: a working example with its tests, which type-checks.

    NAME is of letters, digits and underscores, and becomes the package metafs_NAME.

    Example: metafs new-plugin spread --kind selector
    """
    public = _checked(name)
    folder = folder or Path(f"metafs-{public}")
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"the folder {folder} is not empty: give another --folder.")
    written = project(name, kind)
    for place, text in written.items():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf8")
    echo_line(f"{printable(str(folder))}: a {kind} that works, in {len(written)} files. Next:\n")
    for step in (
        f"cd {printable(str(folder))}",
        'pip install -e ".[test]"',
        "pytest",
        "mypy",
        f"metafs plugins --kind {kind}s",
        _named(USE[kind], name),
    ):
        echo_line(f"  {step}")
    echo_line(f"\nThen write your own {kind} into metafs_{name}/__init__.py.")


def project(name: str, kind: str) -> dict[str, str]:
    """Return the text of each file of a project by its place in it."""
    use = _named(USE[kind], name)

    def filled(template: str) -> str:
        text = files("metafs.cli.templates").joinpath(template).read_text(encoding="utf8")
        return _named(text if template.endswith(".py") else _of_kind(text), name)

    def _of_kind(text: str) -> str:
        return Template(text).substitute(kind=kind, use=use)

    return {
        "pyproject.toml": filled("pyproject.txt"),
        "README.md": filled("readme.txt"),
        f"metafs_{name}/__init__.py": filled(f"{kind}.py"),
        f"metafs_{name}/py.typed": "",
        f"tests/test_{name}.py": filled("contract.txt"),
    }


def _named(text: str, name: str) -> str:
    """Put the name of a plugin in the place of that of the template.

    Examples
    --------
    >>> _named("metafs_newplugin: NewPluginSelector offers newplugin", "my_own")
    'metafs_my_own: MyOwnSelector offers my-own'
    """
    for other, own in {
        "metafs_newplugin": f"metafs_{name}",
        "NewPlugin": "".join(part[:1].upper() + part[1:] for part in name.split("_")),
        "newplugin": _public(name),
    }.items():
        text = text.replace(other, own)
    return text


def _public(name: str) -> str:
    """Return the name as people write it, with hyphens."""
    return re.sub("_+", "-", name)


def _checked(name: str) -> str:
    """Return the public name, or refuse one that cannot be used or is taken."""
    if not NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot name a package: give letters, digits and underscores, with a letter "
            f"first and no underscore last, such as {_similar(name)}."
        )
    public = _public(name)
    taken = {offer.name: str(offer.plugin) for offer in Registry().offers()}
    taken |= {entry.name: f"{entry.name} ({entry.value})" for entry in installed_entry_points()}
    if public in taken:
        raise UsageError(f"the name {public!r} is taken by plugin {taken[public]}: give another.")
    if find_spec(f"metafs_{name}") is not None:
        raise UsageError(f"the package metafs_{name} is installed already: give another name.")
    return public


def _similar(name: str) -> str:
    """Return a name that can be used, as like the one given as possible.

    Examples
    --------
    >>> _similar("my-own"), _similar("9 lives!"), _similar("9")
    ('my_own', 'lives', 'my_selector')
    """
    similar = re.sub(r"\W+", "_", name, flags=re.ASCII).lstrip("_0123456789").rstrip("_")
    return similar or "my_selector"
