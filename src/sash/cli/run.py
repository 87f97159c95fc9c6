"""`sash run`: a job file on Spark, with its progress."""

import json
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import click

import sash
from sash import text as texts
from sash.api import prepared
from sash.cli.job import Job
from sash.errors import InvalidInput, InvalidJob, MissingPackage, SashError, sentence_of

__all__ = ["FAILED", "INTERRUPTED", "checkpoint_shown", "explained", "run_job", "session_for", "watch"]

FAILED, INTERRUPTED = 1, 130
_SECONDS = 0.5  # between two looks at a query


def run_job(job: Job, master: str | None, output: str, dry_run: bool) -> int:
    """Run a job to its end; gives the exit code."""
    with session_for(job, master) as spark:
        with _worded(job.path, "run it"):
            results = _asked(job, _rows(job, spark))
        if dry_run:
            click.echo(f"{job.path}: nothing is wrong with it; the results would have these columns:")
            click.echo(results.schema.simpleString())
            return 0
        return _streamed(job, results, output) if job.source.stream else _written(job, results, output)


def explained(job: Job, master: str | None) -> str:
    """What a job would do, and why."""
    with session_for(job, master) as spark, _worded(job.path, "explain it"):
        rows, queries = _rows(job, spark), job.queries
        taken = ("on", "by", "watermark", "allowed_lateness", "emit")
        options = {name: value for name, value in job.options.items() if name in taken}
        if job.text is not None:
            request = texts.request_of(texts.parse(job.text), options.get("on"), options.get("by"))
            if not request.queries:
                return f"Each row gets the results of its frames: {_asked(job, rows).schema.simpleString()}"
            rows, queries = prepared(rows, request), request.queries
            options |= {"on": request.on, "by": list(request.by)}
        return str(sash.explain(rows, list(queries), **options))


@contextmanager
def session_for(job: Job | None, master: str | None) -> Iterator[Any]:
    """A session for a job: local unless told otherwise; then nothing listens beyond this machine."""
    try:
        from pyspark.sql import SparkSession

        from sash.spark.driver.silence_jvm import silence_jvm
    except ImportError as error:
        raise MissingPackage.of("A job", "pyspark", "spark") from error
    logging.disable(logging.ERROR)  # the bridge to Spark logs the way that an interrupt came
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
        with _worded(job.path if job is not None else "sash", f"start with master {chosen!r}"):
            spark = builder.getOrCreate()
        try:
            with silence_jvm(spark):
                yield spark
        finally:
            spark.stop()
    finally:
        logging.disable(logging.NOTSET)


@contextmanager
def _worded(path: object, what: str) -> Iterator[None]:
    """Whatever Spark refuses here, in a sentence."""
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
    with _worded(job.path, "read the source"):
        if source.schema is not None:
            reader = reader.schema(source.schema)
        return reader.options(**source.options).load(source.path)


def _asked(job: Job, rows: Any) -> Any:
    if job.text is not None:
        return sash.sql(job.text, **job.options, **{job.source.table: rows})
    options = dict(job.options)
    if not job.source.stream:
        options = {name: value for name, value in options.items() if name not in ("late", "flush", "max_future")}
    return sash.aggregate(rows, list(job.queries), **options)


def _written(job: Job, results: Any, output: str) -> int:
    """A bounded job: there is nothing to watch but its end."""
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
        return _failed(error, output)
    _say(output, {"event": "done", "seconds": round(time.perf_counter() - begin, 3)})
    return 0


def _streamed(job: Job, results: Any, output: str) -> int:
    sink = job.sink
    with _worded(job.path, "write to the sink"):
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
        watch(query, output)
    except KeyboardInterrupt:
        query.stop()
        where = f": run it again to go on from {sink.checkpoint}" if sink.checkpoint else ""
        click.echo(f"Stopped{where}.", err=True)
        return INTERRUPTED
    except Exception as error:
        return _failed(error, output)
    _say(output, {"event": "done", **_figures(sash.progress(query))})
    return 0


def _failed(error: Exception, output: str) -> int:
    if output == "json":
        _say(output, {"event": "failed", "error": sentence_of(error)})
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
    """Wait for the end of a query; now and then, tell what is new."""
    with ExitStack() as stack:
        tell, seen = _teller(output, stack), -1
        is_active = True
        while is_active:
            is_active = query.isActive
            done = None if tell is None else sash.progress(query)
            if tell is not None and done is not None and done.batch != seen:
                seen = done.batch
                tell(done)
            query.awaitTermination(_SECONDS if is_active else None)


def _teller(output: str, stack: ExitStack) -> Callable[[Any], None] | None:
    """Return what tells of a micro-batch; None if nobody wants to know."""
    if output == "json":
        return lambda done: _say(output, {"event": "batch", **_figures(done)})
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


def _say(output: str, event: dict[str, Any]) -> None:
    if output == "json":
        click.echo(json.dumps(event))
    elif output == "plain" and event["event"] == "done":
        click.echo("Done.", err=True)


def checkpoint_shown(checkpoint: str, master: str | None, as_json: bool) -> None:
    """`sash state`: what a stopped query remembers."""
    is_here = ":" not in checkpoint and (master or "local").startswith("local")
    if is_here and not (Path(checkpoint) / "commits").is_dir():
        raise InvalidInput.option("CHECKPOINT", checkpoint, "the folder that a streaming query keeps its checkpoint in")
    with session_for(None, master):
        found = sash.state(checkpoint)
        if as_json:
            click.echo(json.dumps({name: text for name, text in found.lines() if name != "query"}))
        else:
            click.echo(str(found))
