"""`metafs plugins`: what is installed, from which package, and what failed to load."""

from typing import Any

import click

from metafs.cli.app import Sentences
from metafs.cli.options import json_option, no_plugin_option
from metafs.cli.output import echo_json, echo_message, echo_table
from metafs.plugin.registry import KINDS, Registry

COLUMNS = ("kind", "name", "plugin", "package", "version", "state", "error")


class Kind(click.Choice[str]):
    """A kind of plugin, in the plural or, as in `metafs new-plugin`, in the singular."""

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        """Return the plural."""
        plural = f"{value}s"
        return super().convert(plural if plural in self.choices else value, param, ctx)


@click.command(cls=Sentences)
@click.option("--kind", type=Kind(KINDS), help="Only this kind.")
@no_plugin_option
@json_option
def plugins(kind: str | None, no_plugin: tuple[str, ...], as_json: bool) -> None:
    """List what the installed plugins offer, and those that failed to load.

    Example: metafs plugins --kind selectors
    """
    registry = Registry(disabled=no_plugin)
    rows: list[tuple[str | None, ...]] = [
        (o.kind, o.name, o.plugin.name, o.plugin.package, o.plugin.version, "loaded", None)
        for o in registry.offers(kind)
    ]
    absent: list[tuple[str | None, ...]] = [
        (None, None, p.name, p.package, p.version, p.state, p.error or None)
        for p in registry.plugins
        if p.state != "loaded"
    ]
    if as_json:
        echo_json(COLUMNS, rows + absent)
        return
    echo_table(COLUMNS[:5], [row[:5] for row in rows])
    for _, _, name, package, _, state, error in absent:
        echo_message(f"\n{state}: {name} ({package}){f': {error}' if error else ''}")
