"""The command `sash`; heavy packages are imported by the commands that need them."""

import traceback
from pathlib import Path
from typing import Any

import click

from sash.errors import SashError

__all__ = ["main"]

MAIN_EXAMPLES = """\b
Examples:
  sash demo                                every algorithm over a sensor's signal, and a job on Spark, checked
  sash algorithms                          what each algorithm needs and costs
  sash explain max --size 1000             which algorithm is taken, and why
  sash bench algorithms --quick            the papers' experiments, in half a minute
  sash bench algorithms --only latency     one of them, in full
  sash bench slicing --quick               streams of many windows, beside other techniques
  sash bench spark --only frames           DataFrames, beside native Spark
  sash bench streaming --only slide        streams, beside native Structured Streaming
"""
DEMO_EXAMPLES = """\b
Examples:
  sash demo
  sash demo --rows 100000
"""
EXPLAIN_EXAMPLES = """\b
Examples:
  sash explain max --size 1000
  sash explain median --size 16 --size 64
"""
BENCH_EXAMPLES = """\b
Examples:
  sash bench algorithms --quick
  sash bench algorithms --only latency --only ranges --out build/latency
"""
SLICING_EXAMPLES = """\b
Examples:
  sash bench slicing --quick
  sash bench slicing --only concurrent --only one_row --out build/streams
"""
SPARK_EXAMPLES = """\b
Examples:
  sash bench spark --quick
  sash bench spark --only slide --only frames --out build/spark
"""
STREAMING_EXAMPLES = """\b
Examples:
  sash bench streaming --quick
  sash bench streaming --only slide --only sessions --out build/streaming
"""


class Guarded(click.Group):
    """A group that words what sash refuses in one line; `--debug` shows where it came from."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except SashError as error:
            if ctx.params.get("debug"):
                click.echo(traceback.format_exc(), err=True, nl=False)
            click.echo(f"Error: {error}", err=True)
            ctx.exit(2)


@click.group(
    cls=Guarded,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=MAIN_EXAMPLES,
)
@click.version_option(None, "-V", "--version", package_name="sash", message="sash %(version)s")
@click.option("--debug", is_flag=True, help="Show the whole traceback of an error.")
def main(debug: bool) -> None:
    """Sliding-window aggregation at a cost per row that does not grow with the window."""


@main.command(epilog=DEMO_EXAMPLES)
@click.option(
    "--rows", default=1_000_000, show_default=True, type=click.IntRange(min=16), help="Readings of the signal."
)
@click.option("--spark/--no-spark", default=True, show_default=True, help="Then run a job on local Spark.")
@click.pass_context
def demo(ctx: click.Context, rows: int, spark: bool) -> None:
    """Slide every algorithm over a sensor's signal, then a smart home's plugs on local Spark; check every answer."""
    from sash.cli.demo import NEXT
    from sash.cli.demo import demo as run
    from sash.cli.spark_demo import spark_demo

    right = run(rows)
    right = (not spark or spark_demo(rows)) and right
    click.echo(NEXT)
    if not right:
        click.echo("Error: some answers were wrong; this is a bug of sash.", err=True)
        ctx.exit(1)


@main.command()
@click.option("--markdown", is_flag=True, help="As a Markdown table.")
def algorithms(markdown: bool) -> None:
    """List the algorithms: what each needs, what it costs, where it is from."""
    from sash.cli.facts import facts_table
    from sash.cli.show import show

    if markdown:
        click.echo(facts_table().markdown())
    else:
        show(facts_table())


@main.command(epilog=EXPLAIN_EXAMPLES)
@click.argument("aggregate")
@click.option(
    "--size", "sizes", type=int, multiple=True, help="Rows of the window; repeat for several; none: it varies."
)
@click.option("--algorithm", default="auto", show_default=True, help="An algorithm of `sash algorithms`.")
@click.option("--dtype", default="float64", show_default=True, help="Of the values, as NumPy names it.")
def explain(aggregate: str, sizes: tuple[int, ...], algorithm: str, dtype: str) -> None:
    """Say which algorithm slides AGGREGATE, and why."""
    import sash
    from sash.cli.names import aggregate_named, dtype_named

    click.echo(
        sash.swag.explain(aggregate_named(aggregate), sizes or None, algorithm=algorithm, dtype=dtype_named(dtype))
    )


@main.group()
def bench() -> None:
    """Measure."""


@bench.command("algorithms", epilog=BENCH_EXAMPLES)
@click.option("--quick", is_flag=True, help="Small sizes: shows that everything works, in half a minute.")
@click.option("--only", multiple=True, metavar="NAME", help="One experiment; repeat for several.")
@click.option(
    "--out",
    default=Path("build/bench"),
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Where report.json and the pictures go.",
)
def bench_algorithms(quick: bool, only: tuple[str, ...], out: Path) -> None:
    """Run the papers' experiments and compare with other libraries, as ratios in one run.

    The experiments: peers, parallel, warm_start, ranges, latency, memory, break_even, throughput, slides.
    """
    from sash.cli.bench import bench_algorithms as run

    run(quick, only, out)


@bench.command("slicing", epilog=SLICING_EXAMPLES)
@click.option("--quick", is_flag=True, help="Small sizes: shows that everything works, in half a minute.")
@click.option("--only", multiple=True, metavar="NAME", help="One experiment; repeat for several.")
@click.option(
    "--out",
    default=Path("build/bench/slicing"),
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Where report.json and the pictures go.",
)
def bench_slicing(quick: bool, only: tuple[str, ...], out: Path) -> None:
    """Run the experiments of general stream slicing, beside buffers, trees and buckets.

    The experiments: concurrent, constrained, one_row, keys, memory_by_slices, memory_by_rows, flat, finish,
    output_latency, disorder_fraction, disorder_delay, measures, median, splits, aggregates.
    """
    from sash.cli.bench import bench_slicing as run

    run(quick, only, out)


@bench.command("spark", epilog=SPARK_EXAMPLES)
@click.option("--quick", is_flag=True, help="Small sizes: shows that everything works, in a few minutes.")
@click.option("--only", multiple=True, metavar="NAME", help="One experiment; repeat for several.")
@click.option(
    "--out",
    default=Path("build/bench/spark"),
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Where report.json and the pictures go.",
)
def bench_spark(quick: bool, only: tuple[str, ...], out: Path) -> None:
    """Run windows and frames of DataFrames on local Spark, beside what Spark does by itself, in one run.

    The experiments: slide, frames, keys, density, hot_key, cores, memory. All of them take the better part of an hour.
    """
    from sash.cli.bench import bench_spark as run

    run(quick, only, out)


@bench.command("streaming", epilog=STREAMING_EXAMPLES)
@click.option("--quick", is_flag=True, help="Small sizes: shows that everything works, in a few minutes.")
@click.option("--only", multiple=True, metavar="NAME", help="One experiment; repeat for several.")
@click.option(
    "--out",
    default=Path("build/bench/streaming"),
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Where report.json and the pictures go.",
)
def bench_streaming(quick: bool, only: tuple[str, ...], out: Path) -> None:
    """Run windows and sessions of streams on local Spark, beside Structured Streaming by itself, in one run.

    The experiments: slide, keys, sessions, growth. All of them take the better part of an hour.
    """
    from sash.cli.bench import bench_streaming as run

    run(quick, only, out)
