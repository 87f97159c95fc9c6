"""Refusals of the command line: wrong commands, and wrong jobs that are refused before Spark starts."""

__all__ = ["COMMANDS", "JOB", "JOBS"]

COMMANDS: dict[str, tuple[list[str], str]] = {
    "a command misspelt": (["rnu"], "Did you mean 'run'?"),
    "a command that is none": (["frobnicate"], "Try 'sash --help' for help."),
    "an option misspelt": (["algorithms", "--markdwn"], "Did you mean '--markdown'?"),
    "no job": (["run"], "Missing argument 'JOB'"),
    "an aggregate misspelt": (["explain", "maxx"], "Did you mean 'max'?"),
    "an aggregate in capitals": (["explain", "MEDIAN"], "Did you mean 'median'?"),
    "a window of no rows": (["explain", "max", "--size", "0"], "at least 1"),
    "an algorithm misspelt": (["explain", "max", "--algorithm", "dabalite"], "Did you mean 'daba_lite'?"),
    "an algorithm that cannot": (
        ["explain", "max", "--size", "9", "--algorithm", "subtract_on_evict"],
        "Use two_stacks_lite",
    ),
    "a type misspelt": (["explain", "max", "--dtype", "flaot"], "such as float64 or int32"),
    "a job that is not there": (["explain", "jobs/none.tml"], "jobs/none.tml cannot be read: No such file"),
    "another shell": (["completion", "tcsh"], "'bash', 'zsh', 'fish'"),
    "more rows than there is room for": (["demo", "--algorithms", "--rows", "10000000000000"], "x<=100000000"),
    "hours of nothing": (["demo", "--hours", "0"], "x>=0.2"),
    "a checkpoint that is not there": (["state", "no/where"], "the checkpoint folder of a streaming query"),
}

JOB = """
[job]
on = "ts"
by = "plug"
watermark = "10 seconds"

[source]
format = "parquet"
path = "${FOLDER:-data}"

[queries.hourly]
window = { tumbling = "1 hour" }
peak = "max(load)"

[sink]
format = "noop"
"""
TEXT = '[job]\non = "ts"\ntext = "{}"\n[source]\nformat = "parquet"\n'
TUMBLING = '{ tumbling = "1 hour" }'

# What stands in the job, what stands there instead, and the fix.
JOBS: dict[str, tuple[str, str, str]] = {
    "an empty file": (JOB, "", "Add, for example, format ="),
    "queries without a name": ("[queries.hourly]", "[queries]", "write for example [queries.hourly]"),
    "queries in a list": ("[queries.hourly]", "[[queries]]", "must be a table [queries]"),
    "a query of nothing": ('peak = "max(load)"\n', "", "peak=sash.max('x')"),
    "a window of two kinds": (TUMBLING, '{ tumbling = "1 hour", session = "5s" }', "keep one of them"),
    "a window without a slide": (TUMBLING, '{ sliding = "1 hour" }', "needs every"),
    "a band of one number": (TUMBLING, "{ landmark = 5 }", "Write for example window = { landmark = { start ="),
    "a session with a slide": (TUMBLING, '{ session = "5s", every = "1s" }', "Write for example window = { session ="),
    "a window for an aggregate": ("max(load)", "tumbling(load)", "The known ones: argmax"),
    "a query for an aggregate": ("max(load)", "query(load)", "The known ones: argmax"),
    "an aggregate in capitals": ("max(load)", "MAX(load)", "Did you mean 'max'?"),
    "a result named as a column": ("peak =", "window_end =", "cannot be the name of a result"),
    "an unknown way to emit": ('by = "plug"', 'by = "plug"\nemit = "sometimes"', "'final' or 'updates'"),
    "an unknown way with late rows": ('by = "plug"', 'by = "plug"\nlate = "drop"', "'count' or 'keep'"),
    "an unknown flush": ('by = "plug"', 'by = "plug"\nflush = "now"', "job.flush must be 'at_end'"),
    "partial in words": ('by = "plug"', 'by = "plug"\npartial = "yes"', "job.partial must be true or false"),
    "a key that is a number": ('by = "plug"', "by = 5", "the name of a column, or a list"),
    "on in a list": ('on = "ts"', 'on = ["ts"]', "the name of a column of times or numbers"),
    "a watermark in no unit": ('"10 seconds"', '"10"', "Write for example '1 hour'"),
    "a future before now": ('by = "plug"', 'by = "plug"\nmax_future = -5', "not negative"),
    "a trigger that is none": ('"noop"', '"noop"\ntrigger = "soon"', "'available now', or a duration"),
    "a continuous trigger": ('"noop"', '"noop"\ntrigger = "continuous"', "micro-batches only. Write a duration"),
    "a flush at every pause": (
        JOB,
        JOB.replace('"noop"', '"noop"\ntrigger = "10 seconds"').replace('by = "plug"', 'by = "plug"\nflush = "at_end"'),
        "'available now' with flush",
    ),
    "a text that is wrong": (JOB, TEXT.format("SELCT MAX(load) FROM rows [ROWS 5]"), "Did you mean SELECT?"),
    "a text of another table": (
        JOB,
        TEXT.format("SELECT MAX(load) FROM t [ROWS 5]"),
        'write table = "t" under [source]',
    ),
}
