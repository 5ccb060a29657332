"""The registry: which plugins are installed, what they offer, and what failed to load.

Importing metafs loads no plugin; building a `Registry` does. Our own plugins are found
through the same entry points as anybody's.
"""

import os
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from inspect import getattr_static
from types import ModuleType
from typing import Any

import pluggy

from metafs.errors import MetafsError, UsageError, describe
from metafs.plugin import hookspecs
from metafs.plugin.offers import Offer, Offers, Plugin
from metafs.plugin.protocols import (
    Distance,
    Generator,
    Learner,
    Measure,
    Regressor,
    Selector,
)

GROUP = "metafs"
API_VERSION = 1
"""Version of the plugin API: raised when a plugin that worked would no longer work."""
KINDS = ("selectors", "measures", "regressors", "generators", "distances", "learners")
DISABLE_VARIABLE = "METAFS_DISABLE_PLUGINS"
HAND = "given by hand"
METHODS = {
    "selectors": ("fit", "get_params"),
    "measures": ("__call__",),
    "regressors": ("fit", "predict", "get_params"),
    "generators": ("sample", "meta_features", "measure", "cost", "nearest", "bounds"),
    "distances": ("signature", "distance", "in_sql"),
    "learners": ("fit", "predict", "get_params"),
}
"""What an object of each kind must have to be used at all."""


class RegistryError(MetafsError):
    """The installed plugins contradict one another, or one given by hand cannot be used."""


class NameClash(RegistryError):
    """Two plugins offer the same name of one kind."""


class Registry:
    """Everything that the installed plugins offer.

    Parameters
    ----------
    plugins : iterable of objects
        Modules or objects with hook implementations, used in addition to the installed ones.
    disabled : iterable of str
        Plugins to leave out, by entry-point or package name, besides those that the
        environment variable ``METAFS_DISABLE_PLUGINS`` lists.
    entry_points : bool
        Whether to look for installed plugins at all.

    Examples
    --------
    >>> Registry().selectors["climb"]
    Climb()
    """

    def __init__(
        self,
        plugins: Iterable[Any] = (),
        *,
        disabled: Iterable[str] = (),
        entry_points: bool = True,
    ) -> None:
        self._manager = pluggy.PluginManager(GROUP)
        self._manager.add_hookspecs(hookspecs)
        self._offers: list[Offer] = []
        self.plugins: list[Plugin] = []
        self._arguments = (tuple(plugins), tuple(disabled), entry_points)
        if entry_points:
            found = installed_entry_points()
            switched_off = _switched_off(disabled, found)
            for entry in found:
                self._load(entry, switched_off)
        for plugin in self._arguments[0]:
            self._add(plugin, Plugin(_name_of(plugin), HAND))
        self.selectors: Offers[Selector] = self._of_kind("selectors")
        self.measures: Offers[Measure] = self._of_kind("measures")
        self.regressors: Offers[Regressor] = self._of_kind("regressors")
        self.generators: Offers[Generator] = self._of_kind("generators")
        self.distances: Offers[Distance] = self._of_kind("distances")
        self.learners: Offers[Learner] = self._of_kind("learners")

    def __deepcopy__(self, memo: Any) -> "Registry":
        return self  # it never changes once it is built

    def __reduce__(self) -> Any:
        plugins, disabled, entry_points = self._arguments
        portable = tuple(
            (True, each.__name__) if isinstance(each, ModuleType) else (False, each)
            for each in plugins
        )
        return _rebuilt, (portable, disabled, entry_points)

    def offers(self, kind: str | None = None) -> list[Offer]:
        """Return every offer, or those of one kind, with the plugin each comes from."""
        if kind is None:
            return [offer for each in KINDS for offer in self.offers(each)]
        if kind not in KINDS:
            raise UsageError(f"there is no plugin kind {kind!r}: there are {', '.join(KINDS)}.")
        return self._of_kind(kind).offers()

    def failures(self) -> list[Plugin]:
        """Return the plugins that could not be loaded, each with its error."""
        return [plugin for plugin in self.plugins if plugin.state == "failed"]

    def _of_kind(self, kind: str) -> Offers[Any]:
        return Offers(kind, [o for o in self._offers if o.kind == kind], self.failures())

    def _load(self, entry: EntryPoint, switched_off: set[str]) -> None:
        """Import an installed plugin; one that fails is recorded, and the others still load."""
        package, version = _distribution_of(entry)
        if switched_off & _names_of(entry):
            self.plugins.append(Plugin(entry.name, package, version, "disabled"))
            return
        try:
            self._add(entry.load(), Plugin(entry.name, package, version))
        except NameClash:
            raise
        except (Exception, SystemExit) as error:  # a broken plugin must not stop the others
            message = str(error) if isinstance(error, RegistryError) else describe(error)
            self.plugins.append(Plugin(entry.name, package, version, "failed", message))

    def _add(self, implementation: Any, plugin: Plugin) -> None:
        """Register hooks, refuse misspelt ones by name, and collect what the plugin offers."""
        _refuse_newer_api(implementation, plugin)
        self._manager.register(implementation, name=f"{plugin.package}:{plugin.name}")
        try:
            self._refuse_misspelt_hooks(implementation, plugin)
            offers = [
                Offer(kind, name, value, plugin)
                for kind in KINDS
                for name, value in self._ask(implementation, kind, plugin).items()
            ]
            for offer in offers:
                self._refuse_clash(offer)
        except BaseException:
            self._manager.unregister(implementation)
            raise
        self._offers += offers
        self.plugins.append(plugin)

    def _ask(self, implementation: Any, kind: str, plugin: Plugin) -> Mapping[str, Any]:
        others = self._manager.get_plugins() - {implementation}
        answers = self._manager.subset_hook_caller(f"metafs_{kind}", others)()
        offered: dict[str, Any] = {}
        for answer in answers:
            if not isinstance(answer, Mapping):
                raise RegistryError(
                    f"metafs_{kind} of plugin {plugin} must return a mapping of name to object, "
                    f"not {type(answer).__name__}."
                )
            offered |= answer
        for name, value in offered.items():
            if not isinstance(name, str) or not name:
                raise RegistryError(f"plugin {plugin} offers {name!r}, which is not a name.")
            lacking = [each for each in METHODS[kind] if not _has(value, each)]
            if isinstance(value, type) or lacking:
                reason = "a class, not an object" if isinstance(value, type) else "no " + lacking[0]
                raise RegistryError(
                    f"plugin {plugin} offers the {kind.removesuffix('s')} {name!r} with {reason}."
                )
        return offered

    def _refuse_misspelt_hooks(self, implementation: Any, plugin: Plugin) -> None:
        try:
            self._manager.check_pending()
        except pluggy.PluginValidationError as error:
            known = [f"metafs_{kind}" for kind in KINDS]
            callers = self._manager.get_hookcallers(implementation) or []
            name = min({caller.name for caller in callers} - set(known))
            near = get_close_matches(name, known, n=1, cutoff=0)[0]
            raise RegistryError(
                f"plugin {plugin} implements {name}, which is not a hook of metafs: "
                f"did you mean {near}?"
            ) from error

    def _refuse_clash(self, offer: Offer) -> None:
        for other in self._offers:
            if (other.kind, other.name) == (offer.kind, offer.name):
                raise NameClash(
                    f"the {offer.kind.removesuffix('s')} {offer.name!r} is offered twice, by "
                    f"plugin {other.plugin} and by plugin {offer.plugin}: uninstall one, or leave "
                    f"it out with --no-plugin {offer.plugin.name} or {DISABLE_VARIABLE}."
                )


def _refuse_newer_api(implementation: Any, plugin: Plugin) -> None:
    """Refuse a plugin written for a later version of what `metafs.plugin` offers."""
    wanted = getattr(implementation, "METAFS_API", API_VERSION)
    if not isinstance(wanted, int):
        raise RegistryError(f"METAFS_API of plugin {plugin} is {wanted!r}; give a whole number.")
    if wanted > API_VERSION:
        raise RegistryError(
            f"plugin {plugin} needs version {wanted} of the plugin API, and this metafs has "
            f"{API_VERSION}: upgrade metafs."
        )


def installed_entry_points() -> list[EntryPoint]:
    """Return the entry points of our group, in an order that no installation changes.

    A module that two distributions name alike, as after one was renamed, is one plugin.
    """
    found = {(entry.name, entry.value): entry for entry in entry_points(group=GROUP)}
    return [found[key] for key in sorted(found)]


def _distribution_of(entry: EntryPoint) -> tuple[str, str]:
    return (entry.dist.name, entry.dist.version) if entry.dist else ("unknown package", "")


def _names_of(entry: EntryPoint) -> set[str]:
    """Return the names by which a plugin can be switched off."""
    return {entry.name, _distribution_of(entry)[0], entry.module}


def _switched_off(disabled: Iterable[str], found: Iterable[EntryPoint]) -> set[str]:
    """Return what is switched off by argument or variable; a name unknown to us is a mistake."""
    asked = {part.strip() for text in disabled for part in text.split(",")} - {""}
    known = {name for entry in found for name in _names_of(entry)}
    for name in sorted(asked - known):
        near = get_close_matches(name, known, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}?" if near else "see `metafs plugins`."
        raise UsageError(f"there is no plugin {name!r} to leave out: {hint}")
    variable = os.environ.get(DISABLE_VARIABLE, "").split(",")
    return asked | {name.strip() for name in variable}


def _has(value: Any, name: str) -> bool:
    """Say whether an object has an attribute; a property is there, and is not computed."""
    found = getattr_static(value, name, None)
    return isinstance(found, property | cached_property) or hasattr(value, name)


def _name_of(plugin: Any) -> str:
    return getattr(plugin, "__name__", None) or type(plugin).__name__


def _rebuilt(
    plugins: tuple[tuple[bool, Any], ...], disabled: tuple[str, ...], entry_points: bool
) -> Registry:
    found = [import_module(each) if is_module else each for is_module, each in plugins]
    return Registry(found, disabled=disabled, entry_points=entry_points)
