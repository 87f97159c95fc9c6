"""Work that takes long is shown on stderr, in terminals and notebooks, and nowhere else."""

import io
import re
import subprocess
import sys
import time
from typing import Any

import pytest

import sash
from sash import activity, progress_display
from sash.activity import doing
from sash.progress_display import Display, is_on


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> Display:
    """A display that waits for hundredths of seconds, and is the only one."""
    display = Display(after_s=0.05, every_s=0.02)
    monkeypatch.setattr(activity, "watchers", [display.watch])
    return display


def until(is_so: Any) -> None:
    end = time.monotonic() + 10
    while not is_so():
        assert time.monotonic() < end, "it has not happened"
        time.sleep(0.01)


@pytest.mark.usefixtures("quick")
def test_long_work_is_shown_in_a_terminal_and_then_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with doing("aggregating", {"x": [1, 2, 3]}), doing("compiling fold"):
        until(lambda: re.search(r"sash: aggregating 3 rows, \d+ s: compiling fold", screen.getvalue()))
    after = screen.getvalue()
    time.sleep(0.1)
    assert screen.getvalue() == after


@pytest.mark.usefixtures("quick")
def test_short_work_and_work_into_a_file_show_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    screen, file = Terminal(), io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    with doing("aggregating"):
        pass
    monkeypatch.setattr(sys, "stderr", file)
    with doing("aggregating"):
        time.sleep(0.2)
    assert screen.getvalue() == file.getvalue() == ""


@pytest.mark.usefixtures("quick")
def test_the_switch_shows_work_also_in_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.StringIO()
    monkeypatch.setattr(sys, "stderr", file)
    monkeypatch.setenv(progress_display.SWITCH, "on")
    with doing("joining"):
        until(lambda: re.fullmatch(r"sash: joining, \d+ s\n", file.getvalue()))


def test_the_switch_turns_it_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert is_on()
    monkeypatch.setenv(progress_display.SWITCH, "off")
    assert not is_on()


@pytest.mark.parametrize("module", ["pyspark.daemon", "sash.spark.worker.daemon"])
def test_workers_of_spark_show_nothing(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    main = type(sys)("__main__")
    main.__spec__ = type("Spec", (), {"name": module})()
    monkeypatch.setitem(sys.modules, "__main__", main)
    assert not is_on()


def test_an_error_ends_the_step() -> None:
    with pytest.raises(sash.SashError):
        sash.aggregate({"t": [1]}, sash.query("q", sash.tumbling(10), n=sash.count()), on="ts")
    assert not activity.steps


def test_importing_sash_does_not_import_rich() -> None:
    code = "import sash, sys; assert 'rich' not in sys.modules and 'pandas' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
