"""The command `sash`; heavy packages are imported by the commands that need them."""

import traceback
from pathlib import Path
from typing import Any

import click

from sash.errors import SashError

__all__ = ["Guarded", "main"]

MAIN_EXAMPLES = """\b
Examples:
  sash demo                                five windows at once over a stream, on local Spark
  sash algorithms                          what each algorithm needs and costs
  sash run job.toml                        a job on Spark: source, queries, sink
  sash run job.toml --dry-run              what is wrong with it, without running it
  sash explain job.toml                    which path its rows take, and why
  sash state CHECKPOINT                    what a stopped stream remembers
  sash doctor                              what is missing on this machine, and how to get it
  sash explain max --size 1000             which algorithm is taken, and why
"""
DEMO_EXAMPLES = """\b
Examples:
  sash demo
  sash demo --hours 12 --no-compare
  sash demo --algorithms --rows 100000
"""
RUN_EXAMPLES = """\b
Examples:
  sash run job.toml
  DATA=/data sash run job.toml --master 'local[4]' --quiet
  sash run job.toml --json | jq .watermark
  sash run job.toml --dry-run

\b
Exit codes: 0 done, 1 the job failed while it ran, 2 it was refused, 130 it was interrupted.
"""
STATE_EXAMPLES = """\b
Examples:
  sash state /data/checkpoint
  sash state /data/checkpoint --json
"""
COMPLETION_EXAMPLES = """\b
Examples:
  sash completion bash >> ~/.bashrc
  sash completion zsh >> ~/.zshrc
  sash completion fish > ~/.config/fish/completions/sash.fish
"""
EXPLAIN_EXAMPLES = """\b
Examples:
  sash explain job.toml
  sash explain max --size 1000
  sash explain median --size 16 --size 64
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
@click.option("--hours", default=3.0, show_default=True, type=click.FloatRange(min=0.2), help="Of readings.")
@click.option(
    "--folder",
    default=Path("build/demo"),
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Where readings, checkpoint and windows are.",
)
@click.option("--compare/--no-compare", default=True, show_default=True, help="Time Spark's own window() too.")
@click.option("--algorithms", is_flag=True, help="Instead: every algorithm over a sensor's signal, without Spark.")
@click.option(
    "--rows",
    default=1_000_000,
    show_default=True,
    type=click.IntRange(16, 100_000_000),
    help="Of the signal, for --algorithms.",
)
@click.pass_context
def demo(ctx: click.Context, hours: float, folder: Path, compare: bool, algorithms: bool, rows: int) -> None:
    """Run five windows at once over a stream, on local Spark.

    The stream is that of a smart home's plugs; stop it with Ctrl-C, and go on later.
    """
    from sash.cli.demo import NEXT
    from sash.cli.demo import demo as slide_all
    from sash.cli.smart_home import smart_home

    if algorithms:
        right = slide_all(rows)
        click.echo(NEXT)
        if not right:
            click.echo("Error: some answers were wrong; this is a bug of sash.", err=True)
        ctx.exit(0 if right else 1)
    code = smart_home(folder, hours, compare)
    if code == 0:
        click.echo(NEXT)
    ctx.exit(code)


@main.command()
@click.option("--markdown", is_flag=True, help="As a Markdown table.")
def algorithms(markdown: bool) -> None:
    """List what each algorithm needs and costs, and its source."""
    from sash.cli.algorithm_table import facts_table
    from sash.cli.terminal import show

    if markdown:
        click.echo(facts_table().markdown())
    else:
        show(facts_table())


@main.command(epilog=EXPLAIN_EXAMPLES)
@click.argument("what", metavar="AGGREGATE|JOB.toml")
@click.option(
    "--size", "sizes", type=int, multiple=True, help="Rows of the window; repeat for several; none: it varies."
)
@click.option("--algorithm", default="auto", show_default=True, help="An algorithm of `sash algorithms`.")
@click.option("--dtype", default="float64", show_default=True, help="Of the values, as NumPy names it.")
@click.option("--master", help="Of Spark, for a job: local[*] unless the job says otherwise.")
def explain(what: str, sizes: tuple[int, ...], algorithm: str, dtype: str, master: str | None) -> None:
    """Say which algorithm is taken, or how a job would run; and why."""
    import sash
    from sash.cli.arguments import aggregate_named, dtype_named

    if "." in what or "/" in what:
        from sash.cli.job import read_job
        from sash.cli.run import explained

        click.echo(explained(read_job(Path(what)), master))
        return
    click.echo(sash.swag.explain(aggregate_named(what), sizes or None, algorithm=algorithm, dtype=dtype_named(dtype)))


@main.command("run", epilog=RUN_EXAMPLES)
@click.argument("job", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--master", help="Of Spark: local[*] unless the job says otherwise.")
@click.option("--quiet", "output", flag_value="quiet", help="Say nothing but errors.")
@click.option("--json", "output", flag_value="json", help="A line of JSON for each micro-batch, on standard output.")
@click.option("--dry-run", is_flag=True, help="Check everything, and run nothing.")
@click.pass_context
def run_command(ctx: click.Context, job: Path, master: str | None, output: str | None, dry_run: bool) -> None:
    """Run a job file on Spark: from a source, into a sink."""
    from sash.cli.job import read_job
    from sash.cli.run import run_job

    ctx.exit(run_job(read_job(job), master, output or "plain", dry_run))


@main.command("state", epilog=STATE_EXAMPLES)
@click.argument("checkpoint")
@click.option("--master", help="Of Spark: local[*] if left out.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def state_command(checkpoint: str, master: str | None, as_json: bool) -> None:
    """Show what a stopped stream remembers.

    That is: keys, slices, open windows, from its checkpoint.
    """
    from sash.cli.run import checkpoint_shown

    checkpoint_shown(checkpoint, master, as_json)


@main.command()
@click.pass_context
def doctor(ctx: click.Context) -> None:
    """Say what is missing on this machine, and how to get it."""
    from sash.cli.doctor import findings

    is_fine = True
    for each in findings():
        is_fine = is_fine and (each.is_fine or each.is_optional)
        click.echo(f"{each.verdict:<10}{each.what:<14}{each.found}")
        if not each.is_fine:
            click.echo(f"{'':<24}{each.fix}")
    ctx.exit(0 if is_fine else 1)


@main.command(epilog=COMPLETION_EXAMPLES)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print what makes a shell complete these commands."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(main, {}, "sash", "_SASH_COMPLETE").source())
