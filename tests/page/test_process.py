"""The process that serves a page: it ends with the page and with the stream's process, and never fails the stream."""

import http.client
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pytest

import sash
from sash.page import live, process
from sash.page.process import MOST_ASKED, Served
from sash.page.records import SliceFacts
from sash.page.transport import Update
from tests.page.pages import ask, hand_page, token_of, wait_until

QUERY = sash.query("ten", sash.tumbling(10), n=sash.count())
# No `if __name__ == "__main__"`: a process that imports the main module again would open pages without end.
SCRIPT = """
import sash, sys, time
stream = sash.Stream(sash.query("n", sash.tumbling(10), n=sash.count()), on="t", watermark=0)
page = sash.page(stream)
stream.push({"t": [1, 25]})
print(page._process.pid, page.url, flush=True)
"""


def is_running(pid: int) -> bool:
    """Return whether a process is there and not only waits to be reaped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def started(*arguments: str) -> tuple["subprocess.Popen[str]", int, str]:
    """Start Python; return its process, and the process and the address of its page."""
    found = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.PIPE, text=True)
    assert found.stdout is not None
    pid, url = found.stdout.readline().split()
    return found, int(pid), url


def status_of(url: str) -> int:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection("127.0.0.1", parts.port or 0, timeout=30)
    connection.request("GET", f"/?{parts.query}")
    status = connection.getresponse().status
    connection.close()
    return status


@pytest.mark.parametrize(("how", "end"), [("-c", signal.SIGKILL), ("script", signal.SIGTERM)])
def test_page_of_a_killed_process_ends_with_it(how: str, end: signal.Signals, tmp_path: Path) -> None:
    code = SCRIPT + "time.sleep(600)"
    script = tmp_path / "script.py"
    script.write_text(code)
    stream, pid, url = started(*(["-c", code] if how == "-c" else [str(script)]))
    assert status_of(url) == 200
    stream.send_signal(end)
    stream.communicate(timeout=30)
    wait_until(lambda: not is_running(pid))
    with pytest.raises(ConnectionRefusedError):
        status_of(url)


def test_page_ends_with_a_process_that_comes_to_its_end() -> None:
    stream, pid, _ = started("-c", SCRIPT + "time.sleep(0.5)")
    assert stream.wait(30) == 0
    assert stream.communicate()[0] == ""
    wait_until(lambda: not is_running(pid))


def test_token_is_not_among_the_arguments_and_variables_of_a_process() -> None:
    _, page = hand_page()
    with page:
        assert ask(page, "/")[0].status == 200
        own = Path(f"/proc/{page._process.pid}")
        seen = (own / "cmdline").read_bytes() + (own / "environ").read_bytes()
        assert b"sash.page.process" in seen and token_of(page).encode() not in seen


def test_close_ends_the_process_and_leaves_no_zombie() -> None:
    _, page = hand_page()
    pid = page._process.pid
    page.close()
    assert page._process.returncode == 0
    assert not Path(f"/proc/{pid}").exists()


def test_close_ends_a_process_that_takes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "END_S", 0.2)
    _, page = hand_page()
    ask(page, "/")
    os.kill(page._process.pid, signal.SIGSTOP)
    page.close()
    assert not page.is_open and page._process.returncode == -signal.SIGKILL


def test_stream_continues_if_the_process_is_killed_and_a_warning_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    stream = sash.Stream(QUERY, on="t", watermark=0)
    page = sash.page(stream)
    page._process.kill()
    page.wait(10)
    assert not page.is_open and page._process.returncode is not None
    assert stream.push({"t": [1, 25]}).num_rows == 1
    page.close()
    (record,) = caplog.records
    assert record.getMessage() == "The live page has ended, and the stream continues: its process was killed."


def test_process_that_fails_is_a_warning_with_its_error(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(live, "write_settings", lambda pipe, _: pipe.write(b"\0" * 16))
    _, page = hand_page()
    page.wait(30)
    assert not page.is_open
    assert "EOFError" in caplog.text


def test_record_that_cannot_travel_ends_the_page_with_a_message() -> None:
    source, page = hand_page()
    source.inbox.put(lambda: None)  # no pickle can hold it
    page.wait(10)
    assert not page.is_open and source.is_stopped and page._process.returncode == 0


def test_questions_are_answered_by_the_stream_and_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "ANSWER_S", 0.0)
    questions: list[str] = []
    served = Served(10, questions.append)
    for number in range(5 * MOST_ASKED):
        assert served.sharing(str(number))["slices"] == []
    assert questions == [str(number) for number in range(MOST_ASKED)]
    served.add(Update([SliceFacts("7", ((0.0, 1.0, None, ()),))], answered=MOST_ASKED))
    assert served.sharing("8")["key"] == "7" and questions[-1] == "8"


def test_many_questions_take_little_time_from_the_stream() -> None:
    source, page = hand_page()
    with page:
        begin = time.monotonic()
        for number in range(20):
            ask(page, "/api/sharing", key=str(number))
        assert len(source.asked) <= (time.monotonic() - begin) / live.LEAST_TICK_S + 2
        assert source.asked[-1] == "19"


def test_large_results_cross_the_pipe() -> None:
    source, page = hand_page()
    with page:
        count = 300_000
        ends = list(range(count))
        columns: dict[str, Any] = {"k": ["a"] * count, "query": ["q"] * count, "window_start": ends, "window_end": ends}
        source.inbox.put_results(pa.table({**columns, "x": [1.0] * count}))
        found = b'"count": 300000'
        wait_until(lambda: found in ask(page, "/api/m4", query="q", key="a", aggregate="x", width=3)[1])
