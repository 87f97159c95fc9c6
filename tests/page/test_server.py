"""Who may read the page, and what it does with viewers that are many, slow or hostile."""

import asyncio
import socket
import threading
from typing import Any

import pyarrow as pa
import pytest

from sash.errors import InvalidInput
from sash.page.guards import Guards
from sash.page.live import CLOSED
from sash.page.records import Figures, LateRow, Stopped
from sash.page.viewers import FULL, MOST_VIEWERS, SLOW, Viewers
from tests.page.pages import Events, ask, hand_page, token_of, wait_until

LABELS = '{stream="test",unit="number"}'
PROTECTED = ("/", "/events", "/api/series", "/api/m4", "/api/sharing", "/metrics", "/nothing")


@pytest.fixture(scope="module")
def page() -> Any:
    source, page = hand_page()
    page.source = source
    with page:
        yield page


@pytest.mark.parametrize("path", PROTECTED)
@pytest.mark.parametrize("token", ["", "wrong", "é"])
def test_every_path_but_static_files_needs_the_token(page: Any, path: Any, token: Any) -> None:
    response, body = ask(page, path, token=token)
    assert response.status == 403
    assert b"token" in body


def test_static_files_need_no_token(page: Any) -> None:
    response, _ = ask(page, "/static/index.html", token="")
    assert response.status == 200


def test_static_files_do_not_leave_their_folder(page: Any) -> None:
    for path in ("/static/../guards.py", "/static/%2e%2e/guards.py", "/static//etc/passwd"):
        response, _ = ask(page, path, token="")
        assert response.status in (403, 404)


def test_token_also_travels_as_a_cookie_that_scripts_cannot_read(page: Any) -> None:
    response, _ = ask(page, "/")
    cookie = response.getheader("set-cookie")
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie
    response, _ = ask(page, "/api/series", token="", headers={"Cookie": cookie.partition(";")[0]})
    assert response.status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE"])
def test_only_get_is_answered(page: Any, method: Any) -> None:
    response, _ = ask(page, "/api/series", method=method)
    assert response.status == 405
    assert response.getheader("allow") == "GET"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "10.0.0.1"])
def test_other_host_names_are_refused_against_dns_rebinding(page: Any, host: Any) -> None:
    response, _ = ask(page, "/api/series", headers={"Host": host})
    assert response.status == 421


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:80", "127.0.0.1", "[::1]:9"])
def test_names_of_this_machine_are_accepted(page: Any, host: Any) -> None:
    response, _ = ask(page, "/api/series", headers={"Host": host})
    assert response.status == 200


def test_page_on_a_network_accepts_its_name_and_addresses_but_no_other_name() -> None:
    nothing: Any = None
    guards = Guards(nothing, "t", "c", "stats.example")
    verdicts = {host: guards._knows(host) for host in ("stats.example", "10.0.0.1", "localhost", "evil.example")}
    assert verdicts == {"stats.example": True, "10.0.0.1": True, "localhost": True, "evil.example": False}


@pytest.mark.parametrize("path", ["/", "/static/index.html", "/api/series", "/metrics", "/nothing"])
def test_every_answer_has_the_strict_policy(page: Any, path: Any) -> None:
    response, _ = ask(page, path)
    policy = response.getheader("content-security-policy")
    assert policy.startswith("default-src 'self';")
    assert "unsafe" not in policy and "*;" not in policy
    assert response.getheader("x-content-type-options") == "nosniff"
    assert response.getheader("referrer-policy") == "no-referrer"


@pytest.mark.parametrize(
    "wrong", [{"width": "0"}, {"width": "1e9"}, {"from": "x"}, {"to": "nan"}, {"key": "k" * 2000}, {"width": "inf"}]
)
def test_wrong_parameters_get_a_sentence(page: Any, wrong: Any) -> None:
    parameters = {"query": "q", "key": "a", "aggregate": "x", **wrong}
    response, body = ask(page, "/api/m4", **parameters)
    assert response.status == 400
    assert body.decode().strip().endswith(".")


def test_keys_named_like_scripts_are_data_only(page: Any) -> None:
    name = "<script>alert(1)</script>"
    results = {"k": [name], "query": ["q"], "window_start": [0], "window_end": [10], "x": [1.5]}
    page.source.inbox.put_results(pa.table(results))
    page.source.inbox.put(LateRow(name, None, None, "late"))
    wait_until(lambda: b"<script>" in ask(page, "/api/series")[1])
    response, body = ask(page, "/api/m4", query="q", key=name, aggregate="x", width=3)
    assert response.getheader("content-type") == "application/json"
    assert b'"count": 1' in body
    _, html = ask(page, "/")
    assert b"alert(1)" not in html
    _, metrics = ask(page, "/metrics")
    assert b"alert(1)" not in metrics


def test_listens_on_this_machine_only(page: Any) -> None:
    assert page.url.startswith("http://127.0.0.1:")
    with socket.socket() as other:
        other.bind(("127.0.0.2", page.port))  # free: the page has not taken all addresses


def test_taken_port_is_refused_with_a_sentence(page: Any) -> None:
    from sash.page.live import _listen

    with pytest.raises(InvalidInput, match="free on this machine"):
        _listen("127.0.0.1", page.port)


# --- viewers -----------------------------------------------------------------------------------------------


def test_new_viewer_gets_all_panels_and_then_changes() -> None:
    source, page = hand_page()
    with page:
        events = Events(page)
        stream = iter(events)
        names = [next(stream)[0] for _ in range(6)]
        assert names == ["now", "time", "sharing", "batches", "keys", "late"]
        source.inbox.put(Figures(batch=2, rows=77, watermark=6.0, newest=8.0))
        time_panel = next(data for name, data in stream if name == "time" and data["watermark"] == 6.0)
        assert time_panel["newest"] == 8.0
        events.close()


def test_viewer_beyond_the_limit_is_told_so() -> None:
    _, page = hand_page()
    with page:
        held = [Events(page) for _ in range(MOST_VIEWERS)]
        for each in held:
            each.response.readline()
        assert Events(page).until("bye")["message"] == FULL
        held.pop().close()
        wait_until(lambda: f"viewers{LABELS} {MOST_VIEWERS - 1}.0" in ask(page, "/metrics")[1].decode())
        assert Events(page).until("now")["title"] == "test"
        for each in held:
            each.close()


def test_slow_viewer_is_dropped_with_a_message_and_the_others_are_not() -> Any:
    async def scenario() -> Any:
        viewers, may_send = Viewers(most_waiting=5), asyncio.Event()
        taken: dict[str, list[bytes]] = {"slow": [], "fast": []}

        async def receive() -> None:
            await asyncio.sleep(60)

        def send(name: Any) -> Any:
            async def take(message: Any) -> None:
                if name == "slow" and message["type"] == "http.response.body":
                    await may_send.wait()
                taken[name].append(message.get("body", b""))

            return take

        following = [asyncio.create_task(viewers.follow({}, receive, send(name))) for name in taken]
        await asyncio.sleep(0)
        for number in range(20):
            viewers.show({"now": b"event: now\ndata: %d\n\n" % number})
            await asyncio.sleep(0.001)
        assert len(viewers) == 2
        may_send.set()
        await asyncio.sleep(0.05)
        assert len(viewers) == 1
        viewers.end("done")
        await asyncio.gather(*following)
        return taken

    taken = asyncio.run(scenario())
    assert SLOW.encode() in b"".join(taken["slow"])
    assert b"data: 19" in b"".join(taken["fast"])


def test_viewer_that_takes_nothing_is_dropped() -> Any:
    async def scenario() -> Any:
        viewers = Viewers(send_s=0.05)
        viewers.show({"now": b"event: now\n\n"})

        async def never(message: Any) -> None:
            if message["type"] == "http.response.body":
                await asyncio.sleep(60)

        async def receive() -> None:
            await asyncio.sleep(60)

        await asyncio.wait_for(viewers.follow({}, receive, never), 5)
        return len(viewers)

    assert asyncio.run(scenario()) == 0


# --- the end -----------------------------------------------------------------------------------------------


def test_close_says_goodbye_and_frees_the_port() -> None:
    source, page = hand_page()
    events = Events(page)
    events.response.readline()
    page.close()
    assert events.until("bye")["message"] == CLOSED
    assert source.is_stopped and not page.is_open
    page.close()  # twice is harmless
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", page.port), timeout=1)


def test_end_of_the_stream_ends_the_page() -> None:
    source, page = hand_page()
    events = Events(page)
    source.inbox.put(Stopped("stopped", "The query has ended."))
    assert events.until("bye")["message"] == "The query has ended."
    page.wait(5)
    assert not page.is_open


def test_page_that_stays_shows_a_stopped_stream() -> None:
    source, page = hand_page(stays=True)
    with page:
        source.inbox.put(Stopped("failed", "The query has failed: no disk."))
        now = next(data for name, data in Events(page) if name == "now" and data["state"] == "failed")
        assert now["why"] == "The query has failed: no disk."


def test_source_that_fails_ends_the_page_and_nothing_else() -> None:
    source, page = hand_page()
    events = Events(page)
    source.fails = RuntimeError("lost")
    assert "The page has failed" in events.until("bye")["message"]
    page.wait(5)
    assert not page.is_open


def test_page_is_a_daemon_thread() -> None:
    _, page = hand_page()
    with page:
        threads = [each for each in threading.enumerate() if each.name == "sash-page"]
        assert all(each.daemon for each in threads)


def test_notebook_shows_the_page_in_a_frame() -> None:
    _, page = hand_page()
    with page:
        assert page._repr_html_().startswith("<iframe src=")
        assert token_of(page) in page._repr_html_()
