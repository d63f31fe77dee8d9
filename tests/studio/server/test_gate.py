"""Every way in that is not the page's own is shut."""

import json

import pytest
from starlette.websockets import WebSocketDisconnect

from mercer.studio.server import server, uploads
from tests.studio.conftest import ORIGIN, TOKEN, UPLOAD_LIMIT

REBOUND = (
    "attacker.example",
    "attacker.example:8765",
    "127.0.0.1",
    "127.0.0.1:9999",
    "127.0.0.1:8765.attacker.example",
    "",
)
FOREIGN = (
    "http://attacker.example",
    "null",
    "http://127.0.0.1:9999",
    "https://127.0.0.1:8765",
    "http://localhost.attacker.example:8765",
)


@pytest.mark.parametrize("host", REBOUND)
@pytest.mark.parametrize("path", ["/", "/page/main.js", "/download"])
def test_other_host_names_are_refused(client, host, path):
    answer = client.get(f"{path}?token={TOKEN}", headers={"host": host})
    assert answer.status_code == 403
    assert "Mercer Studio</title>" not in answer.text


def test_localhost_is_this_server(client):
    assert client.get(f"/?token={TOKEN}", headers={"host": "localhost:8765"}).status_code == 200


@pytest.mark.parametrize("token", ["", "wrong", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "%00", "é"])
@pytest.mark.parametrize("path", ["/", "/download"])
def test_no_page_without_the_token(client, token, path):
    answer = client.get(f"{path}?token={token}")
    assert answer.status_code == 403
    assert TOKEN not in answer.text


def test_the_token_of_another_run_is_explained(client):
    assert "another run" in client.get("/?token=old").text


@pytest.mark.parametrize("origin", FOREIGN)
def test_other_origins_are_refused(client, origin):
    assert client.get(f"/?token={TOKEN}", headers={"origin": origin}).status_code == 403
    assert client.post(f"/upload?token={TOKEN}", content=b"x", headers={"origin": origin}).status_code == 403


def test_a_post_without_an_origin_is_refused(client):
    assert client.post(f"/upload?token={TOKEN}", content=b"x").status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_requests_that_other_sites_make_the_browser_send_are_refused(client, site):
    assert client.get(f"/?token={TOKEN}", headers={"sec-fetch-site": site}).status_code == 403


@pytest.mark.parametrize(
    ("query", "headers"),
    [
        (f"token={TOKEN}", {"origin": "http://attacker.example"}),
        (f"token={TOKEN}", {}),
        ("token=wrong", {"origin": ORIGIN}),
        ("", {"origin": ORIGIN}),
        (f"token={TOKEN}", {"origin": ORIGIN, "host": "attacker.example:8765"}),
    ],
)
def test_sockets_of_others_are_refused(client, query, headers):
    with (
        pytest.raises(WebSocketDisconnect) as refused,
        client.websocket_connect(f"ws://127.0.0.1:8765/ws?{query}", headers=headers),
    ):
        pass
    assert refused.value.code == 1008


@pytest.mark.parametrize(
    "path",
    [
        "/page/../server.py",
        "/page/%2e%2e/server.py",
        "/page/..%2fserver.py",
        "/page//etc/passwd",
        "/page/%2fetc%2fpasswd",
        "/page/....//server.py",
        "/page/index.html%00",
        "/page/",
    ],
)
def test_no_path_leads_out_of_the_page(client, path):
    answer = client.get(path, headers={"origin": ORIGIN})
    assert answer.status_code in (403, 404)
    assert "import" not in answer.text
    assert "root:" not in answer.text


def test_files_of_the_page_are_read_once_and_never_by_a_path_from_outside(client, monkeypatch, tmp_path):
    monkeypatch.setattr(server, "PAGE", tmp_path)
    assert client.get(f"/?token={TOKEN}").status_code == 200


def test_answers_carry_a_policy_that_runs_nothing_but_our_scripts(client):
    headers = client.get(f"/?token={TOKEN}").headers
    policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"


def test_refusals_carry_the_headers_too(client):
    assert "content-security-policy" in client.get("/").headers


# --- files ---------------------------------------------------------------------------------------


def upload(client, body, **query):
    return client.post("/upload", params={"token": TOKEN, **query}, content=body, headers={"origin": ORIGIN})


def test_a_file_that_is_too_large_is_refused_with_a_sentence(client):
    answer = upload(client, b"x" * (UPLOAD_LIMIT + 1))
    assert answer.status_code == 413
    assert "larger than" in answer.json()["error"]


def test_a_body_that_grows_beyond_what_it_said_is_refused(client):
    def parts():
        for _ in range(100):
            yield b"x" * 50

    assert upload(client, parts()).status_code == 413


def test_an_uploaded_name_opens_no_file(client, open_tab):
    with open_tab("tab-number-one") as tab:
        answer = upload(client, b"a,b\n1,2\n", tab=tab.hello["tab"], name="../../etc/passwd").json()
        assert set(answer) == {"file", "size"}
        assert "/" not in answer["file"]


def test_only_so_many_files_are_kept():
    shelf = uploads.Shelf()
    for k in range(100):
        shelf.drawer(f"tab-number-{k:04d}")["files"] = k
    assert shelf.drawer("tab-number-0000") == {}
    assert shelf.drawer("tab-number-0099") == {"files": 99}


def test_an_open_tab_keeps_its_things_while_others_come_and_go():
    shelf = uploads.Shelf()
    shelf.drawer(shelf.enter("tab-that-stays"))["files"] = "mine"
    for k in range(2 * uploads.MOST_DRAWERS):
        tab = shelf.enter(f"tab-number-{k:04d}")
        shelf.drawer(tab)["files"] = k
        shelf.leave(tab)
    assert shelf.drawer("tab-that-stays") == {"files": "mine"}


def test_open_tabs_are_not_kept_without_end():
    shelf = uploads.Shelf()
    for k in range(2 * uploads.MOST_DRAWERS):
        shelf.drawer(shelf.enter(f"tab-number-{k:04d}"))["files"] = k
    kept = [k for k in reversed(range(2 * uploads.MOST_DRAWERS)) if shelf.drawer(f"tab-number-{k:04d}")]
    assert kept == list(reversed(range(uploads.MOST_DRAWERS, 2 * uploads.MOST_DRAWERS)))


def test_nothing_to_download_is_a_sentence(client):
    answer = client.get("/download", params={"token": TOKEN, "tab": "nobody-here", "what": "../../etc/passwd"})
    assert (answer.status_code, "train a model" in answer.text) == (404, True)


def test_downloads_are_attachments_with_a_harmless_name(app, client):
    shelf = uploads.Shelf()
    shelf.drawer("tab-number-one")["made"] = {"report": ('a"\r\nx: y<script>.html', "text/html", b"<b>")}

    class Asking:
        query_params = {"tab": "tab-number-one", "what": "report"}  # noqa: RUF012

    answer = uploads.send_download(Asking(), shelf)
    assert answer.headers["content-disposition"] == 'attachment; filename="a_x_y_script_.html"'


# --- messages ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "1", "null", '{"n": 1}', '{"do": "fit"}', "[" * 3000, '"' + "x" * 1000 + '"']
)
def test_broken_messages_get_a_sentence_and_the_tab_goes_on(open_tab, text):
    with open_tab() as tab:
        tab.socket.send_text(text)
        assert "error" in tab.receive()[0]
        assert tab.ask("start")[0]["presets"]


@pytest.mark.parametrize("do", ["__class__", "eval", "", "..", "hello", 7, None, ["fit"]])
def test_there_is_nothing_to_ask_for_but_what_is_listed(open_tab, do):
    with open_tab() as tab:
        assert "no request named" in tab.ask(do)[0]["error"]


@pytest.mark.parametrize(
    "request_",
    [
        {"points": "x"},
        {"points": [[1, 2]]},
        {"points": [[1, 2, "a"]]},
        {"points": [[1e300, 0, 0]]},
        {"points": [[0, 0, 99]]},
        {"points": [[0, 0, 0.5]]},
        {"points": [[0, 0, 0]] * 3000},
        {"points": {"a": 1}},
        {"window": [0, 0, 0, 0]},
        {"window": "abcd"},
        {"window": [0, None, 1, 2]},
        {"C": "1"},
        {"C": -1},
        {"C": True},
        {"C": 1e300},
        {"gamma": None},
        {"degree": 1e9},
        {"bias": "__import__('os')"},
        {"method": "os.system"},
        {"kernel": "pickle"},
        {"kernel": "expression", "expression": "__import__('os').system('true')"},
        {"kernel": "expression", "expression": "rbf(" * 60},
        {"kernel": "expression", "expression": "x" * 5000},
        {"kernel": "expression", "expression": ""},
    ],
    ids=lambda request: json.dumps(request)[:60],
)
def test_settings_that_are_no_settings_get_a_sentence(open_tab, request_):
    good = {"points": [[0, 0, 0], [2, 2, 0], [2, 0, 1], [3, 0, 1]], "method": "hard", "kernel": "linear"}
    with open_tab() as tab:
        assert tab.ask("fit", **{**good, **request_})[0]["error"]
        assert tab.ask("fit", **good)[0]["status"] == "OPTIMAL"
