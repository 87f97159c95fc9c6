"""`python -m benchmarks`, from the root of the repository."""

from benchmarks.command_line import main

main(prog_name="python -m benchmarks")
