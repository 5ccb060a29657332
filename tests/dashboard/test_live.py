"""The live page in a real browser: new problems without reloading, and queries."""

import time

import pytest

from .conftest import serving, solve

ROWS = "return document.querySelectorAll('#problem-table tbody tr').length"
PATIENCE_S = 90


def wait_for(condition):
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.2)


@pytest.fixture
def live(tmp_path, chromium):
    path = tmp_path / "m.duckdb"
    solve(path, 0)
    chromium.get_log("browser")
    with serving("--db", path, "--token", "a-token") as client:
        chromium.get(client.address)
        yield path, chromium
        assert chromium.get_log("browser") == []
        chromium.get("about:blank")


def test_new_problems_appear_while_filter_and_query_stay(live):
    path, browser = live
    assert browser.execute_script(ROWS) == 1
    assert "token" not in browser.current_url
    browser.execute_script("window.same = true")
    query = browser.find_element("id", "sql-query")
    query.clear()
    query.send_keys("select count(*) as n from problem")
    words = browser.find_element("id", "problem-table-filter")
    words.send_keys("problem")
    solve(path, 1, 2)
    wait_for(lambda: browser.execute_script(ROWS) == 3)
    assert browser.execute_script("return window.same")
    words = browser.switch_to.active_element
    assert words.get_attribute("id") == "problem-table-filter"
    assert words.get_attribute("value") == "problem"
    browser.find_element("id", "sql-run").click()
    wait_for(lambda: browser.find_elements("css selector", "#sql-answer tbody th"))
    assert browser.find_element("css selector", "#sql-answer tbody th").text == "3"
    assert browser.find_element("id", "about").text.endswith("live")


def test_a_query_that_is_refused_says_why(live):
    _, browser = live
    query = browser.find_element("id", "sql-query")
    query.clear()
    query.send_keys("drop table run")
    browser.execute_script("document.querySelector('#sql-run').click()")
    wait_for(lambda: browser.find_elements("css selector", "#sql-answer .failed"))
    assert "DROP" in browser.find_element("css selector", "#sql-answer").text
    # a status of 400 is reported by the browser itself
    assert all("400" in each["message"] for each in browser.get_log("browser"))


def test_axe_finds_nothing_wrong_with_the_page_and_an_answer(live, axe):
    _, browser = live
    browser.execute_script("document.querySelector('#sql-run').click()")
    wait_for(lambda: browser.find_elements("css selector", "#sql-answer tbody th"))
    assert axe() == []
