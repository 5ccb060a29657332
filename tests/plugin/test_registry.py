"""The registry: entry points, clashes, broken and misspelt plugins, switching off."""

import copy
import pickle
import subprocess
import sys
from importlib.metadata import EntryPoint
from types import ModuleType

import pytest
from sklearn.feature_selection import SelectKBest

from metafs.errors import UsageError
from metafs.plugin import registry as registry_module
from metafs.plugin.hookspecs import hookimpl
from metafs.plugin.offers import UnknownName
from metafs.plugin.registry import API_VERSION, KINDS, NameClash, Registry, RegistryError


def plugin(name="mine", **hooks):
    module = ModuleType(name)
    for hook, function in hooks.items():
        setattr(module, hook, hookimpl(function))
    return module


@pytest.fixture
def installed(monkeypatch):
    """Add entry points as if a package had been installed."""
    found = list(registry_module.installed_entry_points())

    def install(name, value):
        found.append(EntryPoint(name, value, "metafs"))
        monkeypatch.setattr(registry_module, "installed_entry_points", lambda: found)

    return install


def test_our_plugins_come_through_entry_points():
    registry = Registry()
    assert {"climb", "infogain", "fisher"} <= set(registry.selectors)
    assert {"mi-confidence", "infogain", "fisher"} <= set(registry.measures)
    assert {"jsd-rows", "jsd-features"} <= set(registry.distances)
    assert {"logistic", "linear-svm", "1nn", "naive-bayes", "forest"} <= set(registry.learners)
    assert {plugin.package for plugin in registry.plugins} == {"metafs-automl"}
    assert not registry.failures()


def test_a_module_that_two_distributions_name_is_loaded_once(monkeypatch):
    twice = [EntryPoint("climb", "metafs_climb", "metafs") for _ in range(2)]
    monkeypatch.setattr(registry_module, "entry_points", lambda group: twice)
    registry = Registry()
    assert [plugin.state for plugin in registry.plugins] == ["loaded"]


def test_networkx_is_loaded_only_for_a_graph():
    code = (
        "import sys; from metafs import Registry; Registry(); assert 'networkx' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_importing_metafs_loads_no_plugin():
    code = (
        "import sys, metafs; "
        "assert not [m for m in sys.modules if m.startswith('metafs_')], sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_object_given_by_hand_is_offered_beside_the_installed():
    mine = len
    registry = Registry([plugin(metafs_measures=lambda: {"mine": mine})])
    assert registry.measures["mine"] is mine
    assert "infogain" in registry.measures


def test_a_name_offered_twice_names_both_packages():
    one = plugin("one", metafs_measures=lambda: {"same": len})
    two = plugin("two", metafs_measures=lambda: {"same": abs})
    with pytest.raises(NameClash, match=r"'same' is offered twice.*one.*two") as caught:
        Registry([one, two], entry_points=False)
    assert "given by hand" in str(caught.value)
    with pytest.raises(NameClash, match=r"infogain.*filters \(metafs-automl .*\).*mine"):
        Registry([plugin(metafs_measures=lambda: {"infogain": len})])


def test_the_same_name_of_another_kind_is_no_clash():
    mine = SelectKBest()
    registry = Registry([plugin(metafs_selectors=lambda: {"mi-confidence": mine})])
    assert registry.selectors["mi-confidence"] is mine


def test_a_plugin_that_fails_to_import_is_recorded_and_the_others_load(installed):
    installed("broken", "metafs_no_such_module")
    registry = Registry()
    (failure,) = registry.failures()
    assert failure.name == "broken"
    assert "No module named 'metafs_no_such_module'" in failure.error
    assert "climb" in registry.selectors
    with pytest.raises(UnknownName, match=r"Plugin broken .* failed to load: ModuleNotFound"):
        registry.selectors["brok"]


def test_a_hook_that_raises_is_recorded_and_the_others_load(installed, monkeypatch):
    def angry():
        raise ValueError("not today")

    monkeypatch.setitem(sys.modules, "angry_plugin", plugin(metafs_selectors=angry))
    installed("angry", "angry_plugin")
    registry = Registry()
    assert [failure.error for failure in registry.failures()] == ["ValueError: not today"]
    assert "climb" in registry.selectors


def test_a_plugin_that_exits_at_import_is_recorded(installed, tmp_path, monkeypatch):
    (tmp_path / "leaving_plugin.py").write_text("import sys; sys.exit(4)")
    monkeypatch.syspath_prepend(tmp_path)
    installed("leaving", "leaving_plugin")
    (failure,) = Registry().failures()
    assert failure.error == "SystemExit: 4"


@pytest.mark.parametrize(
    ("offer", "words"),
    [
        ({5: SelectKBest()}, "5, which is not a name"),
        ({"": SelectKBest()}, "'', which is not a name"),
        ({"mine": SelectKBest}, "'mine' with a class, not an object"),
        ({"mine": 5}, "'mine' with no fit"),
    ],
)
def test_what_could_not_be_used_is_refused(offer, words):
    with pytest.raises(RegistryError, match=words):
        Registry([plugin(metafs_selectors=lambda: offer)])


def test_properties_are_not_computed():
    class Slow:
        sample = meta_features = measure = cost = nearest = len

        @property
        def bounds(self):
            raise AssertionError("asked for")

    slow = Slow()
    registry = Registry([plugin(metafs_generators=lambda: {"slow": slow})], entry_points=False)
    assert registry.generators["slow"] is slow


def test_a_registry_survives_cloning_and_pickling():
    import metafs_filters

    registry = Registry([metafs_filters, Mine()], disabled=["metafs-automl"])
    assert copy.deepcopy(registry) is registry
    again = pickle.loads(pickle.dumps(registry))
    names = ["fisher", "importance", "infogain", "mine", "shrunk"]
    assert list(again.selectors) == list(registry.selectors) == names


class Mine:
    @hookimpl
    def metafs_selectors(self):
        return {"mine": SelectKBest()}


def test_a_misspelt_hook_is_refused_by_name(installed, monkeypatch):
    misspelt = plugin(metafs_selector=lambda: {})
    with pytest.raises(RegistryError, match=r"metafs_selector,.*did you mean metafs_selectors\?"):
        Registry([misspelt])
    monkeypatch.setitem(sys.modules, "misspelt_plugin", misspelt)
    installed("misspelt", "misspelt_plugin")
    (failure,) = Registry().failures()
    assert "metafs_selector, which is not a hook" in failure.error


def test_a_hook_must_return_a_mapping():
    with pytest.raises(RegistryError, match="must return a mapping"):
        Registry([plugin(metafs_learners=lambda: ["forest"])])


def test_a_mistyped_plugin_to_switch_off_is_told_the_near_ones():
    with pytest.raises(UsageError, match=r"no plugin 'clim' to leave out: did you mean climb\?"):
        Registry(disabled=["clim"])


@pytest.mark.parametrize("name", ["climb", "metafs-automl", "metafs_climb", "filters,climb"])
def test_plugins_are_switched_off_by_variable_or_argument(monkeypatch, name):
    assert "climb" not in Registry(disabled=[name]).selectors
    monkeypatch.setenv("METAFS_DISABLE_PLUGINS", f"nothing, {name}")
    registry = Registry()
    assert "climb" not in registry.selectors
    assert "disabled" in {plugin.state for plugin in registry.plugins}


def test_an_unknown_name_is_told_the_near_ones():
    with pytest.raises(UnknownName, match=r"no selector named 'clmb': did you mean climb\?"):
        Registry().selectors["clmb"]
    with pytest.raises(UnknownName, match="no plugin offers any"):
        Registry(entry_points=False).selectors["climb"]
    with pytest.raises(UsageError, match="no plugin kind 'selector'"):
        Registry().offers("selector")


def test_offers_know_their_plugin():
    registry = Registry()
    assert {offer.kind for offer in registry.offers()} <= set(KINDS)
    (climb,) = [offer for offer in registry.offers("selectors") if offer.name == "climb"]
    assert climb.plugin.package == "metafs-automl"
    assert climb.plugin.name == "climb"


def with_api(version):
    module = plugin()
    module.METAFS_API = version
    return module


class TestPluginApi:
    def test_a_plugin_for_a_later_api_is_refused_with_a_sentence(self):
        later = with_api(API_VERSION + 1)
        with pytest.raises(RegistryError, match=r"needs version 2 of the plugin API.*upgrade"):
            Registry([later], entry_points=False)

    def test_a_plugin_for_this_api_is_taken(self):
        assert Registry([with_api(API_VERSION)], entry_points=False).plugins

    def test_a_version_that_is_no_number_is_refused(self):
        with pytest.raises(RegistryError, match="give a whole number"):
            Registry([with_api("1.0")], entry_points=False)

    def test_the_former_place_of_the_hooks_still_works_and_warns(self):
        sys.modules.pop("metafs.hookspecs", None)
        with pytest.warns(DeprecationWarning, match=r"use metafs\.plugin"):
            from metafs.hookspecs import hookimpl
        assert hookimpl is registry_module.hookspecs.hookimpl
