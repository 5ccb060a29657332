"""The page in a real browser: sorting, filtering, following links, hovering, narrow and dark."""

import re

import pytest

from metafs.memory import MetaDB
from metafs.report import draw, report

from .conftest import HOSTILE

ROWS = """
return [...document.querySelectorAll(`#${arguments[0]} tbody tr`)]
  .map((row) => [...row.cells].map((cell) => cell.textContent))
"""
CONTRAST = """
const light = (text) => {
  const [r, g, b] = text.match(/[\\d.]+/g).map((v) => v / 255)
    .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const ground = (element) => {
  for (let each = element; each; each = each.parentElement) {
    const colour = getComputedStyle(each).backgroundColor;
    if (!/, 0\\)$/.test(colour)) return colour;
  }
};
return [...document.querySelectorAll("h1,h2,p,a,th,td,button,label,li,output,figcaption")]
  .filter((each) => each.textContent.trim() && each.getClientRects().length)
  .map((each) => [light(getComputedStyle(each).color), light(ground(each)), each.outerHTML])
  .map(([a, b, what]) => [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), what.slice(0, 200)])
  .filter(([ratio]) => ratio < 4.5);
"""

OUTSIDE = """
return [...document.querySelectorAll("main figure svg text, main svg[role=img] text")]
  .filter((each) => {
    const text = each.getBoundingClientRect(), box = each.ownerSVGElement.getBoundingClientRect();
    return text.left < box.left - 1 || text.right > box.right + 1;
  }).map((each) => each.textContent);
"""


@pytest.fixture(scope="session")
def page_of(tmp_path_factory):
    """Draw the page of a memory into a file."""

    def drawn(path):
        page = tmp_path_factory.mktemp("page") / "report.html"
        page.write_text(draw(report(MetaDB(path)), "m.duckdb"), encoding="utf-8")
        return page.as_uri()

    return drawn


@pytest.fixture(scope="session")
def page(page_of, solved):
    return page_of(solved)


@pytest.fixture(scope="session")
def hostile_page(page_of, hostile):
    return page_of(hostile)


def css(browser, selector):
    return browser.find_elements("css selector", selector)


def wait_for_heading(browser, *texts):
    """Wait until the page has followed a link: it does so after the click has returned."""
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(browser, 20).until(
        lambda _: [each.text for each in css(browser, "#detail h2")] == [*texts]
    )


def click(browser, selector):
    (element,) = css(browser, selector)
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
    element.click()


def heading(browser, column):
    return f"#problem-table thead th:nth-child({column + 1})"


def test_a_click_on_a_heading_sorts_and_says_so(browse, page):
    browser = browse(page)
    columns = [
        each.text.split("\n")[0].rstrip("↕ ")
        for each in css(browser, "#problem-table th[scope=col]")
    ]
    at = columns.index("Score")
    assert css(browser, heading(browser, at))[0].get_attribute("aria-sort") == "none"
    for direction in ("descending", "ascending"):
        click(browser, f"{heading(browser, at)} button")
        assert css(browser, heading(browser, at))[0].get_attribute("aria-sort") == direction
        scores = [float(row[at]) for row in browser.execute_script(ROWS, "problem-table")]
        assert len(scores) == 7
        assert scores == sorted(scores, reverse=direction == "descending")
    assert direction in css(browser, "#said")[0].get_attribute("textContent")


def test_sorting_works_by_keyboard_with_a_visible_focus(browse, page):
    from selenium.webdriver.common.keys import Keys

    browser = browse(page)
    css(browser, "#problem-table-filter")[0].click()
    for _ in range(2):  # the region that scrolls, then the first heading
        browser.switch_to.active_element.send_keys(Keys.TAB)
    button = browser.switch_to.active_element
    assert button.tag_name == "button" and "Problem" in button.text
    assert button.value_of_css_property("outline-style") == "solid"
    button.send_keys(Keys.ENTER)
    assert css(browser, heading(browser, 0))[0].get_attribute("aria-sort") == "ascending"


def test_the_filter_takes_all_words_and_counts(browse, page):
    browser = browse(page)
    css(browser, "#problem-table-filter")[0].send_keys("climb problem")
    rows = browser.execute_script(ROWS, "problem-table")
    assert len(rows) == 6 and all("climb" in " ".join(row) for row in rows)
    css(browser, "#problem-table-filter")[0].send_keys(" 3")
    assert [row[0] for row in browser.execute_script(ROWS, "problem-table")] == ["problem 3"]
    assert css(browser, ".controls output")[0].text == "1 of 7 problems"


def test_links_lead_to_problems_features_and_back(browse, page):
    browser = browse(page)
    css(browser, "#problem-table-filter")[0].send_keys("problem 6")
    click(browser, "#problem-table tbody a")
    wait_for_heading(browser, "problem 6")
    assert browser.title.startswith("problem 6 ")
    assert not css(browser, "#overview")[0].is_displayed()
    assert "(chosen by auto)" in css(browser, "dl.facts")[0].text
    sources = css(browser, "#detail tbody td a")
    assert sources and all(re.match(r"problem \d", each.text) for each in sources)
    feature = css(browser, "#detail table[id^=selected] tbody th a")[0]
    name = feature.text
    browser.execute_script("arguments[0].click()", feature)
    wait_for_heading(browser, name)
    assert "problem 6" in [row.text for row in css(browser, "#detail tbody th")]
    browser.back()
    wait_for_heading(browser, "problem 6")
    browser.back()
    wait_for_heading(browser)  # of no problem or feature: the overview
    assert css(browser, "#overview")[0].is_displayed()
    assert css(browser, "#problem-table-filter")[0].get_attribute("value") == "problem 6"


@pytest.mark.parametrize(
    ("target", "told"), [(".heat canvas", "selected|did not"), ("#map-svg circle", "problem \\d")]
)
def test_pointing_at_a_figure_tells_what_it_is(browse, page, target, told):
    from selenium.webdriver import ActionChains
    from selenium.webdriver.support.ui import WebDriverWait

    browser = browse(page)
    element = css(browser, target)[0]
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
    ActionChains(browser).move_to_element(element).perform()
    (tip,) = css(browser, "#tip")
    WebDriverWait(browser, 20).until(lambda _: tip.is_displayed())
    assert re.search(told, tip.text)


def test_a_click_on_a_dot_of_the_map_leads_to_its_problem(browse, page):
    browser = browse(page)
    click(browser, "#map-svg [data-to='#/problem/3'] circle")
    wait_for_heading(browser, "problem 2")


def test_every_figure_has_a_text_and_every_table_its_headings(browse, page):
    for address in ("", "#/problem/7", "#/feature/1"):
        browser = browse(page + address)
        for figure in css(browser, "main figure svg[role=img], main canvas"):
            assert len(figure.get_attribute("aria-label")) > 20
        for each in css(browser, "main svg:not([role=img])"):
            assert each.get_attribute("aria-hidden") == "true"
        for table in css(browser, "main table"):
            assert table.find_elements("css selector", "caption")
            assert table.find_elements("css selector", "th[scope=col]")
        for field in css(browser, "input, textarea"):
            assert css(browser, f"label[for={field.get_attribute('id')}]")
    assert len(css(browser, "main")) == len(css(browser, "header")) == 1


@pytest.mark.parametrize("width, dark", [(390, True), (1280, False)], ids=["narrow", "wide"])
@pytest.mark.parametrize("address", ["", "#/problem/7", "#/feature/1"])
def test_axe_finds_nothing_wrong(browse, axe, page, address, width, dark):
    browse(page + address, width, dark)
    assert axe() == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280, 1920])
@pytest.mark.parametrize("address", ["", "#/problem/7", "#/feature/1"])
def test_nothing_is_too_wide_or_too_faint(browse, page, width, dark, address):
    browser = browse(page + address, width, dark)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert browser.execute_script(CONTRAST) == []
    assert browser.execute_script(OUTSIDE) == []
    ground = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (int(re.findall(r"\d+", ground)[0]) < 100) == dark


def theme(browser):
    """Return the theme that was chosen, the one that the page shows, and what its button offers."""
    return browser.execute_script("""
        const red = getComputedStyle(document.body).backgroundColor.match(/[0-9]+/)[0];
        return [document.documentElement.dataset.theme ?? null, red < 100 ? "dark" : "light",
                document.querySelector("#theme").textContent];
    """)


def test_the_button_changes_the_theme_for_good(browse, page):
    browser = browse(page)
    assert theme(browser) == [None, "light", "Dark"]
    click(browser, "#theme")
    assert theme(browser) == ["dark", "dark", "Light"]
    assert browser.execute_script("return localStorage.getItem('metafs-theme')") == "dark"
    for _ in range(3):  # each time at once: nobody waits until the browser has stored it
        load_again(browser)
        assert theme(browser) == ["dark", "dark", "Light"]
    click(browser, "#theme")
    assert theme(browser) == ["light", "light", "Dark"]
    load_again(browser)
    assert theme(browser) == ["light", "light", "Dark"]


def load_again(browser):
    """Load the page again, and wait until the new one is there: a busy browser returns before."""
    from selenium.webdriver.support.ui import WebDriverWait

    browser.execute_script("window.isOld = true")
    browser.refresh()
    is_there = "return !window.isOld && document.readyState === 'complete'"
    WebDriverWait(browser, 60).until(lambda _: browser.execute_script(is_there))


def test_a_later_visit_takes_over_the_theme(browse, page):
    browser = browse("about:blank")
    keep = {"source": "try { localStorage.setItem('metafs-theme', 'dark'); } catch { }"}
    kept = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", keep)
    try:
        assert theme(browse(page)) == ["dark", "dark", "Light"]
    finally:
        browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", kept)


@pytest.mark.parametrize("address", ["", *(f"#/problem/{n}" for n in (1, 3, 8)), "#/feature/1"])
def test_hostile_names_are_only_text(browse, hostile_page, address):
    browser = browse(hostile_page + address, 390)
    assert browser.execute_script("return window.hurt") is None
    assert len(css(browser, "script")) == 2 and not css(browser, "img")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
    if not address:
        names = [row[0] for row in browser.execute_script(ROWS, "problem-table")]
        assert names[0] == HOSTILE[0] and names[1] == "\\u202eexe.gnp" and len(names[2]) == 120
        assert names[3:5] == HOSTILE[3:5] and names[5] == "bell\\x07 \\x1b[31m\\u2028$title ${data}"


def test_without_the_script_the_table_can_still_be_read(browse, hostile_page):
    browser = browse("about:blank")
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(hostile_page)
        rows = css(browser, "#overview table tbody tr")
        assert len(rows) == len(HOSTILE) + 1
        assert rows[0].text.startswith(HOSTILE[0]) and "0.700" in rows[0].text
        assert "0.720" in rows[0].text and "0.500" in rows[0].text
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
        browser.get_log("browser")  # it says that the script was blocked
