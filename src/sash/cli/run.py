"""`sash run`, `sash explain` of a job, and `sash state`: start Spark, run, print progress."""

import json
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

import sash
from sash import text as texts
from sash.cli.job import Job
from sash.errors import InvalidInput, InvalidJob, MissingPackage, SashError, sentence_of
from sash.plan.query import Query
from sash.query_text import prepare_rows, read_text

__all__ = [
    "FAILED",
    "INTERRUPTED",
    "LivePage",
    "explain_job",
    "open_page",
    "run_job",
    "session_for",
    "show_checkpoint",
    "show_page",
    "watch",
]

FAILED, INTERRUPTED = 1, 130
KEPT_RESULTS = 1_000_000  # of a page
_SECONDS = 0.5  # between two reads of a query's progress


def run_job(job: Job, master: str | None, output: str, dry_run: bool, with_page: bool = False) -> int:
    """Run a job to its end, and return the exit code."""
    is_shown = with_page and job.source.stream and not dry_run
    with open_page(job.name, is_shown) as page, session_for(job, master) as spark:
        with _as_job_error(job.path, "run it"):
            results = _results(job, _rows(job, spark))
        if dry_run:
            click.echo(f"{job.path}: the job is valid. The results have these columns:")
            click.echo(results.schema.simpleString())
            return 0
        if not job.source.stream:
            return _run_batch(job, results, output)
        return _run_stream(job, results, output, page)


def explain_job(job: Job, master: str | None) -> str:
    """Return how a job would run, and why."""
    with session_for(job, master) as spark, _as_job_error(job.path, "explain it"):
        rows, queries = _rows(job, spark), job.queries
        names = ("on", "by", "watermark", "allowed_lateness", "emit")
        options = {name: value for name, value in job.options.items() if name in names}
        if job.text is not None:
            selects, tables = read_text(job.text, {job.source.table: rows})
            request = texts.request_of(selects, options.get("on"), options.get("by"))
            if not request.queries:
                return f"Each row gets the results of its frames: {_results(job, rows).schema.simpleString()}"
            rows, queries = prepare_rows(tables[request.table], request), request.queries
            options |= {"on": request.on, "by": list(request.by)}
        return str(sash.explain(rows, list(queries), **options))


@contextmanager
def session_for(job: Job | None, master: str | None) -> Iterator[Any]:
    """Open a session for a job; a local one accepts connections from this machine only."""
    try:
        from pyspark.sql import SparkSession

        from sash.spark.driver.silence_jvm import silence_jvm
    except MissingPackage:
        raise
    except ImportError as error:
        raise MissingPackage.of("A job", "pyspark", "spark") from error
    logging.disable(logging.ERROR)  # Py4J would log the stack trace of an interrupt
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    chosen = master or (job.master if job is not None else None) or "local[*]"
    builder: Any = SparkSession.builder.appName(job.name if job is not None else "sash").master(chosen)
    settings: dict[str, Any] = {"spark.ui.showConsoleProgress": False, "spark.log.level": "OFF"}
    if chosen.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        settings |= {"spark.ui.enabled": False, "spark.sql.shuffle.partitions": os.cpu_count() or 2}
        settings |= dict.fromkeys(("spark.driver.bindAddress", "spark.driver.host"), "127.0.0.1")
    for name, value in (settings | dict({} if job is None else job.spark)).items():
        builder = builder.config(name, str(value).lower() if isinstance(value, bool) else str(value))
    try:
        with _as_job_error(job.path if job is not None else "sash", f"start with master {chosen!r}"):
            spark = builder.getOrCreate()
        try:
            with silence_jvm(spark):
                yield spark
        finally:
            spark.stop()
    finally:
        logging.disable(logging.NOTSET)


@contextmanager
def _as_job_error(path: object, what: str) -> Iterator[None]:
    """Raise an error of Spark as an `InvalidJob` with a short message."""
    try:
        yield
    except SashError:
        raise
    except Exception as error:
        if "JAVA_GATEWAY" in str(error):
            raise MissingPackage.java("A job") from error
        raise InvalidJob.by_spark(path, what, sentence_of(error)) from error


def _rows(job: Job, spark: Any) -> Any:
    source = job.source
    reader = (spark.readStream if source.stream else spark.read).format(source.format)
    with _as_job_error(job.path, "read the source"):
        if source.schema is not None:
            reader = reader.schema(source.schema)
        return reader.options(**source.options).load(source.path)


def _results(job: Job, rows: Any) -> Any:
    if job.text is not None:
        return sash.sql(job.text, **job.options, **{job.source.table: rows})
    options = dict(job.options)
    if not job.source.stream:
        options = {name: value for name, value in options.items() if name not in ("late", "flush", "max_future")}
    return sash.aggregate(rows, list(job.queries), **options)


def _run_batch(job: Job, results: Any, output: str) -> int:
    """Write the results of a bounded job, and return the exit code."""
    begin = time.perf_counter()
    sink = job.sink
    try:
        if sink.format in ("console", "memory"):
            results.show(int(sink.options.get("numRows", 20)), truncate=False)
        else:
            writer = results.write.format(sink.format).mode(sink.mode or "errorifexists")
            writer.options(**sink.options).save(sink.path)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        return _report_failure(error, output)
    _print_event(output, {"event": "done", "seconds": round(time.perf_counter() - begin, 3)})
    return 0


def _run_stream(job: Job, results: Any, output: str, page: "LivePage") -> int:
    sink = job.sink
    with _as_job_error(job.path, "write to the sink"):
        writer = results.writeStream.format(sink.format).outputMode(sink.mode or "append").queryName(job.name)
        writer = writer.options(**sink.options)
        if sink.path is not None:
            writer = writer.option("path", sink.path)
        if sink.checkpoint is not None:
            writer = writer.option("checkpointLocation", sink.checkpoint)
        if sink.pause is not None:
            writer = writer.trigger(processingTime=f"{sink.pause.microseconds} microseconds")
        elif sink.trigger is not None:
            writer = writer.trigger(availableNow=True)
        query = writer.start()
    try:
        with page.following(query, job.queries):
            watch(query, output)
    except KeyboardInterrupt:
        query.stop()
        where = f": run it again to continue from {sink.checkpoint}" if sink.checkpoint else ""
        click.echo(f"Stopped{where}.", err=True)
        return INTERRUPTED
    except Exception as error:
        return _report_failure(error, output)
    _print_event(output, {"event": "done", **_figures(sash.progress(query))})
    return 0


@dataclass(frozen=True)
class LivePage:
    """The page of a query, which is open before Spark has started; without `source`, there is none."""

    title: str
    page: Any = None
    source: Any = None

    @contextmanager
    def following(self, query: Any, queries: Sequence[Query]) -> Iterator[None]:
        """Show this query while the block runs, and close the page at its end."""
        if self.source is None:
            yield
            return
        from sash.page.sources.spark import QuerySource

        self.source.follow(QuerySource(query, self.title, queries, KEPT_RESULTS))
        with self.page:
            yield

    def wait(self) -> None:
        """Wait until the page ends, or the user interrupts."""
        if self.page is not None:
            click.echo("Press Ctrl-C to close the page.", err=True)
            with suppress(KeyboardInterrupt):
                self.page.wait()


@contextmanager
def open_page(title: str, with_page: bool, stays: bool = False) -> Iterator[LivePage]:
    """Open a page for a query that starts in the block, and print its address."""
    if not with_page:
        yield LivePage(title)
        return
    from sash.page import check_packages

    check_packages()
    from sash.page.live import Page
    from sash.page.sources.early import EarlySource

    source = EarlySource(title, "Spark is starting.")
    with Page(source, "127.0.0.1", 0, stays, KEPT_RESULTS) as page:
        click.echo(f"The page: {page.url}", err=True)
        yield LivePage(title, page, source)


def show_page(checkpoint: str, master: str | None) -> None:
    """Show the state of a stopped query on a page, until it is interrupted."""
    _check_checkpoint(checkpoint, master)
    with session_for(None, master):
        found = sash.state(checkpoint)
    with sash.page(found, stays=True) as page:
        click.echo(f"The page: {page.url}", err=True)
        LivePage("", page).wait()


def _report_failure(error: Exception, output: str) -> int:
    if output == "json":
        _print_event(output, {"event": "failed", "error": sentence_of(error)})
    else:
        click.echo(f"Error: {sentence_of(error)}", err=True)
    return FAILED


def _figures(done: Any) -> dict[str, Any]:
    if done is None:
        return {}
    names = ("batch", "rows", "results", "open_windows", "late", "late_rows", "slices", "keys", "state_bytes")
    figures = {name: getattr(done, name) for name in names}
    figures["rows_per_second"] = round(done.rows_per_second, 1)
    figures["watermark"] = None if done.watermark is None else str(done.watermark)
    return figures


def watch(query: Any, output: str) -> None:
    """Wait for the end of a query, and print each micro-batch."""
    with ExitStack() as stack:
        report, seen = _reporter(output, stack), -1
        is_active = True
        while is_active:
            is_active = query.isActive
            done = None if report is None else sash.progress(query)
            if report is not None and done is not None and done.batch != seen:
                seen = done.batch
                report(done)
            query.awaitTermination(_SECONDS if is_active else None)


def _reporter(output: str, stack: ExitStack) -> Callable[[Any], None] | None:
    """Return the function that prints the progress of a micro-batch; None with --quiet."""
    if output == "json":
        return lambda done: _print_event(output, {"event": "batch", **_figures(done)})
    if output == "quiet":
        return None
    if not sys.stderr.isatty():
        return lambda done: click.echo(_line(done), err=True)
    from rich.console import Console
    from rich.status import Status

    status = stack.enter_context(Status("waiting for the first micro-batch", console=Console(stderr=True)))
    return lambda done: status.update(_line(done))


def _line(done: Any) -> str:
    return (
        f"batch {done.batch}: {done.rows:,} rows, {done.rows_per_second:,.0f}/s, watermark {done.watermark}, "
        f"{done.results:,} windows, {done.late_rows:,} late rows, {done.keys:,} keys, {done.state_bytes / 1e6:,.1f} MB"
    )


def _print_event(output: str, event: dict[str, Any]) -> None:
    if output == "json":
        click.echo(json.dumps(event))
    elif output == "plain" and event["event"] == "done":
        click.echo("Done.", err=True)


def show_checkpoint(checkpoint: str, master: str | None, as_json: bool) -> None:
    """Print the state of a stopped query."""
    _check_checkpoint(checkpoint, master)
    with session_for(None, master):
        found = sash.state(checkpoint)
        if as_json:
            click.echo(json.dumps({name: text for name, text in found.lines() if name != "query"}))
        else:
            click.echo(str(found))


def _check_checkpoint(checkpoint: str, master: str | None) -> None:
    is_local = ":" not in checkpoint and (master or "local").startswith("local")
    if is_local and not (Path(checkpoint) / "commits").is_dir():
        raise InvalidInput.option("CHECKPOINT", checkpoint, "the checkpoint folder of a streaming query")
