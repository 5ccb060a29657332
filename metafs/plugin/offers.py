"""What plugins offer: each object under its public name, with the plugin it comes from."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeVar

from metafs.errors import UsageError


class UnknownName(UsageError, KeyError):
    """No plugin offers this name."""

    def __str__(self) -> str:  # KeyError would quote the sentence
        return str(self.args[0])


@dataclass(frozen=True)
class Plugin:
    """A plugin as installed: its entry-point name, its package and what became of it."""

    name: str
    package: str
    version: str = ""
    state: str = "loaded"
    """``loaded``, ``disabled`` or ``failed``."""
    error: str = ""

    def __str__(self) -> str:
        return f"{self.name} ({self.package} {self.version})".replace(" )", ")")


@dataclass(frozen=True)
class Offer:
    """One object that a plugin offers under a public name."""

    kind: str
    name: str
    value: Any
    plugin: Plugin


Kind = TypeVar("Kind", covariant=True)


class Offers(Mapping[str, Kind]):
    """The objects of one kind by public name; for an unknown name the error lists similar ones."""

    def __init__(self, kind: str, offers: Iterable[Offer], failures: Iterable[Plugin] = ()) -> None:
        self.kind = kind
        self._failures = list(failures)
        self._offers = {offer.name: offer for offer in sorted(offers, key=lambda o: o.name)}

    def __getitem__(self, name: str) -> Kind:
        try:
            offered: Kind = self._offers[name].value
            return offered
        except KeyError:
            raise UnknownName(self._unknown(name)) from None

    def __contains__(self, name: object) -> bool:
        return name in self._offers

    def __iter__(self) -> Iterator[str]:
        return iter(self._offers)

    def __len__(self) -> int:
        return len(self._offers)

    def __repr__(self) -> str:
        return f"<{self.kind}: {', '.join(self) or 'none'}>"

    def offers(self) -> list[Offer]:
        """Return the offers with their owners, sorted by name."""
        return list(self._offers.values())

    def _unknown(self, name: str) -> str:
        near = get_close_matches(name, list(self), n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(self)}."
        if not self:
            hint = "no plugin offers any; see `metafs plugins`."
        for plugin in self._failures:
            hint += f" (Plugin {plugin} failed to load: {plugin.error})"
        return f"there is no {self.kind.removesuffix('s')} named {name!r}: {hint}"
