"""The command `sash`; heavy packages are imported by the commands that need them."""

import traceback
from pathlib import Path
from typing import Any

import click

from sash.errors import SashError

__all__ = ["CommandGroup", "main"]

MAIN_EXAMPLES = """\b
Examples:
  sash demo                                run five queries over one stream on local Spark
  sash algorithms                          list the requirements and costs of the algorithms
  sash run job.toml                        run a job on Spark: source, queries, sink
  sash run job.toml --dry-run              check a job without running it
  sash explain job.toml                    show how a job would run, and why
  sash run job.toml --page                 run a job, and show it live in the browser
  sash state CHECKPOINT                    show the state of a stopped stream
  sash page CHECKPOINT                     show the state of a stopped stream in the browser
  sash doctor                              check this machine for missing packages
  sash warm                                compile the kernels of common aggregates ahead
  sash explain max --size 1000             show which algorithm sash uses, and why
"""
DEMO_EXAMPLES = """\b
Examples:
  sash demo
  sash demo --hours 12 --no-compare
  sash demo --page
  sash demo --algorithms --rows 100000
"""
RUN_EXAMPLES = """\b
Examples:
  sash run job.toml
  DATA=/data sash run job.toml --master 'local[4]' --quiet
  sash run job.toml --json | jq .watermark
  sash run job.toml --dry-run
  sash run job.toml --page

\b
Exit codes:
  0    the job is done
  1    the job failed while it ran
  2    the job or its options are wrong
  130  the job was interrupted
"""
STATE_EXAMPLES = """\b
Examples:
  sash state /data/checkpoint
  sash state /data/checkpoint --json
"""
PAGE_EXAMPLES = """\b
Examples:
  sash page /data/checkpoint
"""
COMPLETION_EXAMPLES = """\b
Examples:
  sash completion bash >> ~/.bashrc
  sash completion zsh >> ~/.zshrc
  sash completion fish > ~/.config/fish/completions/sash.fish
"""
WARM_EXAMPLES = """\b
Examples:
  sash warm
  sash warm mean quantile --types float32,int64
  sash warm --spark
"""
EXPLAIN_EXAMPLES = """\b
Examples:
  sash explain job.toml
  sash explain max --size 1000
  sash explain median --size 16 --size 64
"""


class CommandGroup(click.Group):
    """A command group that prints an error of sash in one line; `--debug` prints the traceback, too."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except SashError as error:
            if ctx.params.get("debug"):
                click.echo(traceback.format_exc(), err=True, nl=False)
            click.echo(f"Error: {error}", err=True)
            ctx.exit(2)


@click.group(
    cls=CommandGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=MAIN_EXAMPLES,
)
@click.version_option(None, "-V", "--version", package_name="sash", message="sash %(version)s")
@click.option("--debug", is_flag=True, help="Show the whole traceback of an error.")
def main(debug: bool) -> None:
    """Aggregate rows over sliding windows. The time per row does not depend on the length of the window."""


@main.command(epilog=DEMO_EXAMPLES)
@click.option(
    "--hours", default=3.0, show_default=True, type=click.FloatRange(min=0.2), help="Hours of readings to generate."
)
@click.option(
    "--folder",
    default=Path("build/demo"),
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder of readings, checkpoint and results.",
)
@click.option("--compare/--no-compare", default=True, show_default=True, help="Also measure Spark's own window().")
@click.option("--algorithms", is_flag=True, help="Run every algorithm over a signal instead, without Spark.")
@click.option(
    "--rows",
    default=1_000_000,
    show_default=True,
    type=click.IntRange(16, 100_000_000),
    help="Rows of the signal, with --algorithms.",
)
@click.option("--page", "with_page", is_flag=True, help="Show the stream live in the browser.")
@click.pass_context
def demo(
    ctx: click.Context, hours: float, folder: Path, compare: bool, algorithms: bool, rows: int, with_page: bool
) -> None:
    """Run five queries over one stream on local Spark.

    The rows are readings of the plugs of a smart home. Stop the demo with Ctrl-C. The next call continues it.
    """
    from sash.cli.demo import NEXT, run_algorithms
    from sash.cli.smart_home import smart_home

    if algorithms:
        right = run_algorithms(rows)
        click.echo(NEXT)
        if not right:
            click.echo("Error: some results are wrong. This is a bug in sash.", err=True)
        ctx.exit(0 if right else 1)
    code = smart_home(folder, hours, compare, with_page)
    if code == 0:
        click.echo(NEXT)
    ctx.exit(code)


@main.command()
@click.option("--markdown", is_flag=True, help="Print Markdown tables.")
def algorithms(markdown: bool) -> None:
    """List what each algorithm needs and costs."""
    from sash.cli.algorithm_table import facts_tables, markdown_tables
    from sash.cli.terminal import show

    if markdown:
        click.echo(markdown_tables())
        return
    for table in facts_tables():
        show(table)


@main.command(epilog=EXPLAIN_EXAMPLES, short_help="Explain the choice of an algorithm, or a job.")
@click.argument("what", metavar="AGGREGATE|JOB.toml")
@click.option(
    "--size",
    "sizes",
    type=int,
    multiple=True,
    help="The number of rows in the window. Repeat the option for several windows. Without it, the size varies.",
)
@click.option("--algorithm", default="auto", show_default=True, help="An algorithm of `sash algorithms`.")
@click.option("--dtype", default="float64", show_default=True, help="The NumPy type of the values.")
@click.option("--master", help="The Spark master, for a job. [default: that of the job file, or local[*]]")
def explain(what: str, sizes: tuple[int, ...], algorithm: str, dtype: str, master: str | None) -> None:
    """Explain which algorithm sash uses for an aggregate, or how a job would run."""
    import sash
    from sash.cli.arguments import aggregate_named, dtype_named

    if "." in what or "/" in what:
        from sash.cli.job import read_job
        from sash.cli.run import explain_job

        click.echo(explain_job(read_job(Path(what)), master))
        return
    click.echo(
        str(sash.swag.explain(aggregate_named(what), sizes or None, algorithm=algorithm, dtype=dtype_named(dtype)))
    )


@main.command("run", epilog=RUN_EXAMPLES)
@click.argument("job", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--master", help="The Spark master. [default: that of the job file, or local[*]]")
@click.option("--quiet", "output", flag_value="quiet", help="Print only errors.")
@click.option("--json", "output", flag_value="json", help="Print a line of JSON for each micro-batch.")
@click.option("--dry-run", is_flag=True, help="Check the job without running it.")
@click.option("--page", "with_page", is_flag=True, help="Show the stream live in the browser.")
@click.pass_context
def run_command(
    ctx: click.Context, job: Path, master: str | None, output: str | None, dry_run: bool, with_page: bool
) -> None:
    """Run a job file on Spark.

    A job reads rows from a source, runs queries on them, and writes the results to a sink.
    """
    from sash.cli.job import read_job
    from sash.cli.run import run_job

    ctx.exit(run_job(read_job(job), master, output or "plain", dry_run, with_page))


@main.command("state", epilog=STATE_EXAMPLES)
@click.argument("checkpoint")
@click.option("--master", help="The Spark master. [default: local[*]]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def state_command(checkpoint: str, master: str | None, as_json: bool) -> None:
    """Show the state of a stopped stream.

    The output lists the queries, the watermark, and the numbers of keys, slices and open windows.
    """
    from sash.cli.run import show_checkpoint

    show_checkpoint(checkpoint, master, as_json)


@main.command("page", epilog=PAGE_EXAMPLES)
@click.argument("checkpoint")
@click.option("--master", help="The Spark master. [default: local[*]]")
def page_command(checkpoint: str, master: str | None) -> None:
    """Show the state of a stopped stream in the browser."""
    from sash.cli.run import show_page

    show_page(checkpoint, master)


@main.command()
@click.pass_context
def doctor(ctx: click.Context) -> None:
    """Show what is missing on this machine, and how to install it."""
    from sash.cli.doctor import findings

    is_fine = True
    for finding in findings():
        is_fine = is_fine and (finding.is_fine or finding.is_optional)
        click.echo(f"{finding.verdict:<10}{finding.what:<14}{finding.found}")
        if not finding.is_fine:
            click.echo(f"{'':<24}{finding.fix}")
    ctx.exit(0 if is_fine else 1)


@main.command(epilog=WARM_EXAMPLES, short_help="Compile the kernels of aggregates ahead.")
@click.argument("aggregates", nargs=-1, metavar="[AGGREGATE]...")
@click.option("--types", default="float64,int64", show_default=True, help="NumPy types of the columns.")
@click.option("--spark", is_flag=True, help="Also compile what Spark's workers need: streams, and columns with nulls.")
def warm(aggregates: tuple[str, ...], types: str, spark: bool) -> None:
    """Compile the kernels of aggregates into the cache, before a call needs them.

    Without aggregates, compile the kernels of the ten most common ones.
    """
    from sash.cli.warm import warm_with_progress

    warm_with_progress(aggregates, [each.strip() for each in types.split(",") if each.strip()], spark)


@main.command(epilog=COMPLETION_EXAMPLES)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script that makes a shell complete these commands."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(main, {}, "sash", "_SASH_COMPLETE").source())
