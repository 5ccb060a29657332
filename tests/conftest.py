"""What many tests share."""

import os

# As many tests run at once as there are cores, and threads of OpenMP that wait for each other keep
# a core busy. Whoever looks at threads of linear algebra still has several.
os.environ.setdefault("OPENBLAS_NUM_THREADS", str(os.cpu_count()))
os.environ.setdefault("OMP_NUM_THREADS", "1")

import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from metafs.data.problem import Problem
from metafs_metadb import MetaDB

settings.register_profile("untimed", deadline=None)  # a busy machine breaks no property
settings.load_profile("untimed")

NAMES = tuple(f"w{j}" for j in range(12))


def pytest_collection_modifyitems(items):
    """Begin with the tests that take long: otherwise one process waits for another's last test."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


@pytest.fixture
def related():
    """Make problems over common features; neighbours in number share their useful features."""

    def make(number, n_samples=60):
        rng = np.random.default_rng(number)
        X = (rng.random((n_samples, len(NAMES))) < 0.4).astype(float)
        useful = (number // 3) % 4
        y = np.where(X[:, useful] + X[:, useful + 1] >= 1, "yes", "no")
        flipped = rng.random(n_samples) < 0.05
        y[flipped] = np.where(y[flipped] == "yes", "no", "yes")
        return Problem.of(X, y, feature_names=NAMES, name=f"problem {number}")

    return make


@pytest.fixture
def db(tmp_path):
    """A path for a MetaDB that does not exist yet."""
    return tmp_path / "m.duckdb"


@pytest.fixture
def ask(db):
    """Ask the MetaDB of this test by SQL."""
    return lambda query: list(MetaDB(db).sql(query)[1])


@pytest.fixture(scope="session")
def chromium():
    """A headless Chromium; the tests that need one are skipped where there is none."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    from selenium.webdriver.chrome.service import Service

    found = [shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")]
    browser, driver = next(filter(None, found), None), shutil.which("chromedriver")
    if browser is None or driver is None:
        pytest.skip("no browser: install chromium and chromium-driver (.ci/browser does)")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for each in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(each)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chromium = webdriver.Chrome(options=options, service=Service(driver))
    chromium.set_script_timeout(60)
    yield chromium
    chromium.quit()


@pytest.fixture
def browse(chromium):
    """Open a page in a window of some width, light or dark; nothing may have gone wrong in it."""

    def open_page(address, width=1280, dark=False):
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        leave_page(chromium)
        chromium.get(address)
        return chromium

    chromium.get_log("browser")
    yield open_page
    errors = [each for each in chromium.get_log("browser") if each["level"] != "INFO"]
    leave_page(chromium)
    assert not errors


def leave_page(chromium):
    """Leave the page, with nothing that it stored: all files, and all tests, are one origin."""
    if chromium.current_url.startswith("file:"):
        chromium.execute_script("sessionStorage.clear()")
    chromium.get("about:blank")
    stored = {"origin": "file://", "storageTypes": "local_storage"}
    chromium.execute_cdp_cmd("Storage.clearDataForOrigin", stored)


AXE = Path(__file__).parent.parent / "node_modules" / "axe-core" / "axe.min.js"
VIOLATIONS = """
const done = arguments[0];
axe.run(document, {resultTypes: ["violations"]}).then(
  (found) => done(found.violations.map((each) =>
    [each.id, each.help, each.nodes.slice(0, 3).map((node) => node.html.slice(0, 200))])),
  (error) => done([String(error)]));
"""


@pytest.fixture(scope="session")
def axe(chromium):
    """What axe-core finds wrong with the page that the browser shows, for people who cannot see it,
    or cannot use a mouse; tests that need it are skipped where it is not."""
    if not AXE.exists():
        pytest.skip("no axe-core: run 'npm install --no-save axe-core@4' (.ci/browser does)")
    program = AXE.read_text(encoding="utf-8")

    def violations():
        chromium.execute_cdp_cmd("Runtime.evaluate", {"expression": program})
        return chromium.execute_async_script(VIOLATIONS)

    return violations
