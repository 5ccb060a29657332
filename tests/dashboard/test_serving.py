"""The dashboard as a server: who may ask, what is answered, and what it never does."""

import json
import signal
import time

import pytest

from metafs_metadb import MetaDB

from .conftest import serving, solve


def test_the_page_is_that_of_the_report_with_a_box_for_queries(client):
    status, headers, text = client.ask()
    assert status == 200 and ">problem 0</bdi>" in text and "connect-src &#x27;self&#x27;" in text
    assert headers["X-Frame-Options"] == "DENY" and headers["Cache-Control"] == "no-store"
    assert "sql-query" in text and "frame-ancestors 'none'" in headers["Content-Security-Policy"]


def test_data_that_did_not_change_are_not_sent_again(client):
    status, headers, text = client.ask("data")
    assert status == 200 and json.loads(text)["problems"]["name"] == ["problem 0", "problem 1"]
    assert client.ask("data", If_None_Match=headers["ETag"])[0] == 304
    assert client.ask("data", If_None_Match='"another"')[0] == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "10.0.0.1:{port}", ""],
)
def test_a_name_that_was_rebound_to_this_machine_is_refused(client, host):
    port = client.root.rsplit(":", 1)[1].strip("/")
    status, _, text = client.ask("data", Host=host.format(port=port))
    assert status == 400 and "problem" not in text


def test_this_machine_may_be_called_localhost(client):
    port = client.root.rsplit(":", 1)[1].strip("/")
    assert client.ask(Host=f"localhost:{port}")[0] == 200
    assert client.ask(Host=f"[::1]:{port}")[0] == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"X_Metafs": ""},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
def test_queries_of_another_page_are_refused(client, headers):
    if headers == {"X_Metafs": ""}:  # what a form can send
        body = {"Content_Type": "application/x-www-form-urlencoded"}
        status, _, text = client.ask("sql", b"query=select+1", **body)
    else:
        status, _, text = client.sql('{"query": "select 1"}', **headers)
    assert status == 403 and "rows" not in text


def test_a_query_of_the_page_is_answered(client):
    own = {"Origin": client.root.rstrip("/"), "Sec_Fetch_Site": "same-origin"}
    status, _, text = client.sql('{"query": "select name, 0.5, null from problem"}', **own)
    assert status == 200, text
    answer = json.loads(text)
    assert answer["rows"] == [["problem 0", 0.5, None], ["problem 1", 0.5, None]]
    assert not answer["more"]


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("delete from run", "answers only `select`"),
        ("select * from read_csv('/etc/passwd')", "disabled"),
        ("select count(*) from range(1000000000000) a, range(1000000) b", "10 seconds"),
        ("select nonsense", "nonsense"),
        ("", "send"),
    ],
)
def test_a_query_that_may_not_be_gets_a_sentence(client, query, sentence):
    status, _, text = client.sql(json.dumps({"query": query}))
    assert status == 400 and sentence in json.loads(text)["error"], text


def test_long_answers_are_cut_and_hostile_values_are_text(client):
    query = "select i, chr(27) || '</script>' || chr(8238) as v from range(5000) t(i)"
    answer = json.loads(client.sql(json.dumps({"query": query}))[2])
    assert len(answer["rows"]) == 1000 and answer["more"]
    assert answer["rows"][7] == [7, "\\x1b</script>\\u202e"]
    wide = "select " + ", ".join(f"i as c{n}" for n in range(200)) + " from range(5000) t(i)"
    assert len(json.loads(client.sql(json.dumps({"query": wide}))[2])["rows"]) == 100
    status, _, _ = client.sql(json.dumps({"query": "select '" + "x" * 30_000 + "'"}))
    assert status == 413
    assert client.sql("{", Content_Type="application/json")[0] == 400
    assert client.sql("{}", Content_Type="text/plain")[0] == 415


def test_other_addresses_do_not_exist(client):
    for path in ("sql", "../etc/passwd", "m.duckdb", "docs"):
        assert client.ask(path)[0] in (404, 405)


def test_another_host_needs_a_token_that_becomes_a_cookie(memory):
    with serving("--db", memory, "--host", "0.0.0.0") as client:
        client.root = f"http://127.0.0.1:{client.root.rsplit(':', 1)[1]}"
        token = client.address.partition("token=")[2]
        assert len(token) >= 32
        for path in ("", "data", "?token=wrong", f"data?token={token}"):
            status, _, text = client.ask(path)
            assert status == 401 and "problem" not in text
        assert client.sql('{"query": "select 1"}')[0] == 401
        status, headers, _ = client.ask(f"?token={token}")
        assert status == 303 and headers["Location"] == "/"
        cookie = headers["Set-Cookie"]
        assert "HttpOnly" in cookie and "SameSite=lax" in cookie
        assert client.ask("data", Cookie=cookie.partition(";")[0])[0] == 200
        assert client.ask("data", Authorization=f"Bearer {token}")[0] == 200
        assert client.ask("data", Authorization=f"Bearer {token}x")[0] == 401
        assert client.sql('{"query": "select 1"}', Cookie=cookie.partition(";")[0])[0] == 200


def test_new_problems_appear_and_a_late_memory_is_waited_for(tmp_path):
    path = tmp_path / "late.duckdb"
    with serving("--db", path) as client:
        assert "Waiting for a memory" in client.ask()[2]
        assert client.ask("data")[0] == 503
        solve(path, 0)
        assert json.loads(client.ask("data")[2])["problems"]["name"] == ["problem 0"]
        solve(path, 1, 2)
        deadline = time.monotonic() + 120
        while len(json.loads(client.ask("data")[2])["problems"]["name"]) < 3:
            assert time.monotonic() < deadline
            time.sleep(0.2)
        answer = client.sql('{"query": "select count(*) from problem"}')[2]
        assert json.loads(answer)["rows"] == [[3]]
        path.unlink()  # what was seen is still shown
        assert client.ask("data")[0] == 200


def test_ctrl_c_ends_it_quietly_and_leaves_no_copies(memory, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with serving("--db", memory) as client:
        client.ask("data")
        assert len(list(tmp_path.iterdir())) == 1
        client.process.send_signal(signal.SIGINT)
        assert client.process.wait(120) == 0
        assert "Traceback" not in client.process.stderr.read()
    assert list(tmp_path.iterdir()) == []


def test_nothing_was_written_and_no_lock_is_held(client, memory):
    before = MetaDB(memory).version()
    client.ask("data")
    client.sql('{"query": "select 1"}')
    assert MetaDB(memory).version() == before
    MetaDB(memory, wait_s=0.0).ensure()  # takes the lock for writing at once


def test_a_port_that_is_taken_gets_a_sentence(client, memory):
    import subprocess

    from .conftest import COMMAND

    port = client.root.rsplit(":", 1)[1].strip("/")
    done = subprocess.run(
        [*COMMAND, "--db", memory, "--port", port], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 1 and "cannot listen on 127.0.0.1 port" in done.stderr
    assert "Traceback" not in done.stderr
