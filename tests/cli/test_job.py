"""Job files: what is read, and what is refused in one sentence before Spark starts."""

import datetime as dt
import importlib.metadata
import importlib.util
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import sash
from sash.algebra.cache import cache_directory
from sash.cli.doctor import Finding, _compared, _standing
from sash.cli.job import read_job
from sash.cli.main import main
from sash.errors import InvalidJob

GOOD = """
[job]
name = "plugs"
on = "ts"
by = ["plug"]
watermark = "10 seconds"

[source]
format = "parquet"
path = "${DATA}/plugs"
stream = true
schema = "ts timestamp, plug long, load double"
options = { maxFilesPerTrigger = 1 }

[queries.hourly]
window = { sliding = "1 hour", every = "1 minute" }
peak = "max(load)"
p95 = "quantile(load, 0.95)"

[queries.recent]
window = { sliding = { rows = 100 }, every = 10 }
n = "count()"

[queries.visits]
window = { session = "30 seconds" }
n = "count()"

[sink]
format = "parquet"
path = "${OUT:-/tmp/out}"
checkpoint = "/tmp/checkpoint"
trigger = "available now"

[spark]
"spark.sql.shuffle.partitions" = 2
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "job.toml"
    path.write_text(text)
    return path


def test_an_argument_between_quotes_is_a_text_whatever_it_holds(tmp_path: Path) -> None:
    text = GOOD.replace('"quantile(load, 0.95)"', """"string_agg(load, ', ')\"""")
    (hourly, *_) = read_job(written(tmp_path, text), {"DATA": "/data"}).queries
    assert dict(hourly.aggregates)["p95"] == sash.string_agg("load", ", ")


def test_a_job_is_read_with_the_variables_of_the_environment(tmp_path: Path) -> None:
    job = read_job(written(tmp_path, GOOD), {"DATA": "/data"})
    assert (job.source.path, job.sink.path) == ("/data/plugs", "/tmp/out")
    assert job.queries == (
        sash.query(
            "hourly", sash.sliding("1 hour", every="1 minute"), peak=sash.max("load"), p95=sash.quantile("load", 0.95)
        ),
        sash.query("recent", sash.sliding(rows=100, every=10), n=sash.count()),
        sash.query("visits", sash.session(gap="30 seconds"), n=sash.count()),
    )
    assert job.options == {"on": "ts", "by": ["plug"], "watermark": "10 seconds"}
    assert job.spark == {"spark.sql.shuffle.partitions": 2}


@pytest.mark.parametrize(
    ("window", "wanted"),
    [
        ('{ tumbling = "1 month", zone = "Europe/Berlin" }', sash.tumbling("1 month", zone="Europe/Berlin")),
        ('{ sliding = "3 months", every = "1 month" }', sash.sliding("3 months", every="1 month")),
        ("{ calendar = [2026-01-01, 2026-02-01] }", sash.calendar([dt.date(2026, 1, 1), dt.date(2026, 2, 1)])),
    ],
)
def test_a_job_has_windows_of_the_calendar(
    tmp_path: Path, window: str, wanted: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATA", "/data")
    text = GOOD.replace('{ session = "30 seconds" }', window)
    *_, visits = read_job(written(tmp_path, text)).queries
    assert visits.window == wanted


def test_the_job_of_the_readme_is_one(tmp_path: Path) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    block = readme.partition("```toml\n")[2].partition("```")[0]
    job = read_job(written(tmp_path, block), {"DATA": "/data"})
    assert job.source.stream and [each.name for each in job.queries] == ["hourly"]


def test_a_job_may_count_rows_as_sql_does(tmp_path: Path) -> None:
    job = read_job(written(tmp_path, GOOD.replace('"max(load)"', '"count(*)"', 1)), {"DATA": "/data"})
    assert [each for query in job.queries for _, each in query.aggregates if each == sash.count()]


WRONG = [
    ("[job", "[job\n", "is not TOML"),
    ('[job]\nname = "plugs"', "[job]\nname = 3", "job.name must be a string"),
    ('on = "ts"', "", "has no 'on'"),
    ("by =", "buy =", "There is no key of [job] 'buy'. Did you mean 'by'?"),
    ("[source]", "[sorce]", "There is no part 'sorce'. Did you mean 'source'?"),
    ('format = "parquet"\npath = "${DATA}/plugs"', 'path = "x"', "[source] has no 'format'"),
    ("stream = true", 'stream = "yes"', "source.stream must be true or false"),
    ("options = { maxFilesPerTrigger = 1 }", "options = 1", "source.options must be a table"),
    ("${DATA}", "${NOWHERE}", "${NOWHERE} is not set"),
    ('{ sliding = "1 hour", every = "1 minute" }', '{ sliding = "1 our", every = "1 minute" }', "1 our"),
    (
        '{ sliding = "1 hour", every = "1 minute" }',
        '{ slide = "1 hour" }',
        "query 'hourly': There is no window 'slide'. Did you mean 'sliding'?",
    ),
    ('{ sliding = "1 hour", every = "1 minute" }', '"1 hour"', "queries.hourly.window must be"),
    ('{ sliding = "1 hour", every = "1 minute" }', '{ sliding = "1 hour", evry = "1 minute" }', "evry"),
    ('{ session = "30 seconds" }', '{ session = "-1 seconds" }', "visits"),
    ('"max(load)"', '"maxx(load)"', "query 'hourly': There is no aggregate 'maxx'. Did you mean 'max'?"),
    ('"max(load)"', '"avg(load)"', "There is no aggregate 'avg'. Did you mean 'mean'?"),
    ('"max(load)"', '"max(load) filter (where load > 3)"', 'part of a text = "SELECT …" under [job]'),
    ('[job]\nname = "plugs"', '[job]\nformat = "parquet"', "[job] has no key 'format': write it under [source]."),
    ('"max(load)"', '"max load"', 'a call such as "max(load)"'),
    ('"max(load)"', "7", 'a call such as "max(load)"'),
    ('"max(load)"', '"max(load, load, load)"', "hourly"),
    ('"quantile(load, 0.95)"', '"quantile(load, 95)"', "hourly"),
    ('"max(load)"', '"max()"', "hourly"),
    ('window = { session = "30 seconds" }\n', "", "[queries.visits] has no 'window'"),
    ('checkpoint = "/tmp/checkpoint"\n', "", "[sink] has no 'checkpoint'"),
    ('[job]\nname = "plugs"', '[job]\ntext = "SELECT 1"', "has both text under [job] and [queries]"),
]


@pytest.mark.parametrize(("there", "instead", "said"), WRONG, ids=[each[2][:40] for each in WRONG])
def test_what_is_wrong_with_a_job_is_one_sentence_and_exit_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: str, instead: str, said: str
) -> None:
    assert GOOD.count(there) >= 1
    path = written(tmp_path, GOOD.replace(there, instead, 1))
    monkeypatch.setenv("DATA", "/data")
    with pytest.raises(InvalidJob) as caught:
        read_job(path)
    assert said in str(caught.value)
    for command in ("run", "explain"):
        done = CliRunner().invoke(main, [command, str(path)])
        assert done.exit_code == 2 and done.stdout == "" and "Traceback" not in done.stderr
        assert done.stderr.startswith("Error: ") and done.stderr.count("\n") == 1


def test_a_file_that_is_not_there_or_not_text_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    for name, said in (("none.toml", "No such file"), ("binary.toml", "not UTF-8 text"), ("", "directory")):
        done = CliRunner().invoke(main, ["run", str(tmp_path / name)])
        assert done.exit_code == 2 and said in done.stderr, done.stderr
        assert "Traceback" not in done.stderr


def test_doctor_says_what_is_here() -> None:
    done = CliRunner().invoke(main, ["doctor"])
    assert done.exit_code in (0, 1)
    assert all(name in done.output for name in ("Python", "numba", "pyspark", "Java", "kernel cache"))


def test_doctor_says_where_a_version_of_pyspark_stands() -> None:
    record: list[dict[str, Any]] = [
        {"pyspark": "3.5.9", "streams": 0, "failed": 0},
        {"pyspark": "4.0.5", "streams": 7, "failed": 2},
        {"pyspark": "4.1.4", "streams": 7, "failed": 0},
    ]
    assert _standing("3.5.1", record) == "tables (streams need 4.0 or newer) with 3.5.9: all tests passed"
    assert _standing("4.0.5", record) == "tables and streams with 4.0.5: 2 tests failed"
    assert _standing("4.1.0", record) == "tables and streams with 4.1.4: all tests passed"
    assert _standing("4.9.0", record) == "not tested; tested are 3.5.9, 4.0.5, 4.1.4"


@pytest.mark.parametrize(
    ("version", "says"),
    [
        ("2.1.4", "older than the tested ones, 2.2.3 to 10.1.0"),
        ("2.2.0", "tested: 2.2.3 to 10.1.0"),
        ("9.0", "tested: 2.2.3 to 10.1.0"),
        ("10.1.7", "tested: 2.2.3 to 10.1.0"),
        ("10.2.0rc1", "newer than the tested ones, 2.2.3 to 10.1.0"),
    ],
)
def test_doctor_compares_the_version_of_a_package_with_the_tested_ones(version: str, says: str) -> None:
    record = [{"pandas": each, "pyspark": ""} for each in ("10.1.0", "2.2.3")]
    assert _compared(Finding("pandas", True, version), record).found == f"{version}; {says}"
    assert _compared(Finding("lark", True, version), record).found == version


def test_doctor_is_content_with_the_base_install(monkeypatch: pytest.MonkeyPatch) -> None:
    known, extras = importlib.metadata.version, ("pandas", "polars", "pyspark", "protobuf", "matplotlib")

    def version(name: str) -> str:
        if name in extras:
            raise importlib.metadata.PackageNotFoundError(name)
        return known(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    done = CliRunner().invoke(main, ["doctor"])
    assert done.exit_code == 0, done.output
    assert done.output.count("optional") == len(extras) + 1 and "MISSING" not in done.output


def test_doctor_says_that_kernels_are_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / f"sash-kernels-{os.getuid()}").mkdir(mode=0o755)
    monkeypatch.setenv("SASH_CACHE_DIR", str(tmp_path))
    cache_directory.cache_clear()
    try:
        done = CliRunner().invoke(main, ["doctor"])
    finally:
        cache_directory.cache_clear()
    assert "there is no private folder that can be written to: kernels are compiled in every process" in done.output


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_printed_for_shells(shell: str) -> None:
    done = CliRunner().invoke(main, ["completion", shell])
    assert done.exit_code == 0 and "_SASH_COMPLETE" in done.output


@pytest.mark.parametrize(
    ("trigger", "expected"),
    [
        *(
            (each, "available now")
            for each in ('"availableNow"', '"available-now"', '"available_now"', '"AVAILABLE NOW"')
        ),
        *((each, "available now") for each in ("{ availableNow = true }", '"once"', "{ once = true }")),
        ('"availableNow=True"', "available now"),
        ('"Trigger.AvailableNow()"', "available now"),
        *((each, "10 seconds") for each in ('"10 seconds"', '{ processingTime = "10 seconds" }')),
        ("\"processingTime='10 seconds'\"", "10 seconds"),
        ("\"Trigger.ProcessingTime('10 seconds')\"", "10 seconds"),
        ('"processingTime 10 seconds"', "10 seconds"),
    ],
)
def test_trigger_may_have_every_spelling_of_spark(tmp_path: Path, trigger: str, expected: str) -> None:
    path = tmp_path / "job.toml"
    path.write_text(GOOD.replace('trigger = "available now"', f"trigger = {trigger}"))
    sink = read_job(path, {"DATA": "/data"}).sink
    assert sink.trigger == expected
    assert (sink.pause is None) is (expected == "available now")


@pytest.mark.parametrize("trigger", ["{ continuous = '1 second' }", "5", "{ availableNow = false }", "'soon'"])
def test_other_triggers_are_refused(tmp_path: Path, trigger: str) -> None:
    path = tmp_path / "job.toml"
    path.write_text(GOOD.replace('trigger = "available now"', f"trigger = {trigger}"))
    with pytest.raises(InvalidJob, match="available now"):
        read_job(path, {"DATA": "/data"})


def test_job_reads_nested_fields(tmp_path: Path) -> None:
    path = tmp_path / "job.toml"
    text = GOOD.replace('on = "ts"', 'on = "event.ts"').replace('["plug"]', '["meta.device"]')
    path.write_text(text.replace('"max(load)"', '"max(meta.load)"'))
    job = read_job(path, {"DATA": "/data"})
    assert job.options["on"] == "event.ts" and job.options["by"] == ["meta.device"]
    assert job.queries[0].aggregates[0][1] == sash.max("meta.load")
