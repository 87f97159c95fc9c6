"""What users of other libraries call things, and what sash calls them."""

import difflib
from collections.abc import Iterable

__all__ = ["BY_NAME", "ELSEWHERE", "ELSEWHERE_OF", "EXAMPLES", "KEYWORDS", "NAMES", "nearest_name"]

# Names of pandas, Polars, SQL, Spark and Flink, and what to write in sash.
NAMES = {
    **dict.fromkeys(("avg", "average", "rolling_mean", "mean_by"), "sash.mean('x')"),
    **dict.fromkeys(("std", "stdev", "stddev_samp", "rolling_std"), "sash.stddev('x')"),
    **dict.fromkeys(("stddev_pop", "std_pop"), "sash.stddev('x', population=True)"),
    **dict.fromkeys(("var", "var_samp", "rolling_var"), "sash.variance('x')"),
    "var_pop": "sash.variance('x', population=True)",
    **dict.fromkeys(
        ("nunique", "n_unique", "distinct", "distinct_count", "approx_distinct"), "sash.count_distinct('x')"
    ),
    **dict.fromkeys(("approx_count_distinct", "approx_n_unique", "hll"), "sash.hyperloglog('x')"),
    **dict.fromkeys(
        (
            *("percentile", "percentile_cont", "percentile_approx", "quantile_cont", "rolling_quantile"),
            *("approx_quantile", "approx_percentile", "quantiles", "p50", "p90", "p95", "p99"),
        ),
        "sash.quantile('x', 0.95)",
    ),
    **dict.fromkeys(("prod", "mul"), "sash.product('x')"),
    **dict.fromkeys(("size", "len", "row_count"), "sash.count()"),
    **dict.fromkeys(("count_if", "value_counts"), "sash.count(where='x > 0')"),
    **dict.fromkeys(("sum_if", "filter", "where"), "sash.sum('x', where='x > 0')"),
    **dict.fromkeys(
        ("ohlc", "candles"), "sash.first('x'), sash.max('x'), sash.min('x') and sash.last('x') in one query"
    ),
    **dict.fromkeys(("col", "expr", "lit"), "the name of the column as text, such as sash.max('x')"),
    **dict.fromkeys(
        ("minutes", "hours", "seconds", "days", "interval", "timedelta", "duration"),
        "a length as text, such as sash.tumbling('10 minutes')",
    ),
    **dict.fromkeys(
        ("from_pandas", "from_polars", "from_arrow", "from_dicts", "read_csv", "read_parquet", "DataFrame", "Table"),
        "the call with a pandas, Polars or Arrow table, as in sash.aggregate(table, queries, on='ts')",
    ),
    **dict.fromkeys(("max_by", "arg_max", "idxmax"), "sash.argmax('x', 'who')"),
    **dict.fromkeys(("min_by", "arg_min", "idxmin"), "sash.argmin('x', 'who')"),
    **dict.fromkeys(("collect_list", "array_agg", "list", "implode"), "sash.collect('x')"),
    **dict.fromkeys(("collect_set", "unique"), "sash.collect_distinct('x')"),
    **dict.fromkeys(("listagg", "concat", "group_concat", "str_concat"), "sash.string_agg('x')"),
    **dict.fromkeys(("first_value", "any_value"), "sash.first('x')"),
    "last_value": "sash.last('x')",
    **dict.fromkeys(("gmean", "geomean"), "sash.geometric_mean('x')"),
    **dict.fromkeys(
        ("lag", "shift", "previous"), "sash.rolling(table, on='ts', rows=(-1, -1), previous=sash.first('x'))"
    ),
    "lead": "sash.rolling(table, on='ts', rows=(1, 1), next=sash.first('x'))",
    "nth": "sash.rolling(table, on='ts', rows=(-2, -2), second_before=sash.first('x'))",
    **dict.fromkeys(
        ("rank", "dense_rank", "percent_rank", "ntile"),
        "sash.sql('SELECT RANK() OVER (ORDER BY ts) AS place FROM events', events=table)",
    ),
    **dict.fromkeys(("any", "bool_or", "some"), "sash.max('is_true')"),
    **dict.fromkeys(("all", "bool_and", "every"), "sash.min('is_true')"),
    **dict.fromkeys(
        ("pct_change", "percent_change"),
        "x divided by sash.rolling(table, on='ts', rows=(-1, -1), previous=sash.first('x'))",
    ),
    **dict.fromkeys(
        ("zscore", "z_score", "bollinger"),
        "sash.rolling(table, on='ts', rows=100, m=sash.mean('x'), s=sash.stddev('x')), and compute with m and s",
    ),
    "diff": "x minus sash.rolling(table, on='ts', rows=(-1, -1), previous=sash.first('x'))",
    **dict.fromkeys(("row_number", "cumcount"), "sash.rolling(table, on='ts', rows=(None, 0), number=sash.count())"),
    **dict.fromkeys(("cumsum", "cum_sum"), "sash.rolling(table, on='ts', rows=(None, 0), total=sash.sum('x'))"),
    **dict.fromkeys(
        ("cummax", "cum_max", "cummin", "cum_min"), "sash.rolling(table, on='ts', rows=(None, 0), top=sash.max('x'))"
    ),
    **dict.fromkeys(
        ("rows_between", "range_between", "between"), "sash.rolling(table, on='ts', rows=(-9, 0), m=sash.mean('x'))"
    ),
    **dict.fromkeys(("expanding", "cumulate"), "sash.cumulative('1 day', every='1 hour')"),
    **dict.fromkeys(("hop", "hopping", "slide", "window"), "sash.sliding('1 hour', every='1 minute')"),
    **dict.fromkeys(("tumble", "fixed", "group_by_dynamic", "resample"), "sash.tumbling('1 hour')"),
    **dict.fromkeys(("session_window", "sessions"), "sash.session(gap='30 minutes')"),
    **dict.fromkeys(("over", "roll", "rolling_by"), "sash.rolling(table, on='ts', rows=100, …)"),
    **dict.fromkeys(
        ("asof", "join_asof", "asof_join", "merge_asof"), "sash.join(labels, sash.lookback(events, rows=1, …), on='ts')"
    ),
    **dict.fromkeys(("agg", "groupby", "group_by", "run"), "sash.aggregate(table, queries, on='ts', by='key')"),
    **dict.fromkeys(
        (
            *("corr", "cov", "covar_samp", "skew", "kurtosis", "ewm", "ewma", "ema", "top_k", "topk", "nlargest"),
            *("sem", "mad", "iqr", "entropy", "histogram", "rms", "vwap", "harmonic_mean"),
        ),
        "an aggregate of your own with sash.Aggregate(name, state=…, identity=…, lift=…, combine=…)",
    ),
}


def nearest_name(name: str, own: Iterable[str]) -> str | None:
    """Return what to write for a name that sash does not have: another spelling of `own` names or of NAMES, or None.

    >>> [nearest_name(each, ["max", "sum", "Stream"]) for each in ("MAX", "rolling_sum", "collectList", "medain")]
    ['sash.max', 'sash.sum', "sash.collect('x')", None]
    """
    if name.startswith("_"):
        return None
    spellings = {_folded(each): instead for each, instead in NAMES.items()}
    spellings |= {_folded(each): each for each in sorted(own)}  # `aggregate` comes after `Aggregate`
    folded = _folded(name)
    plain = folded.removeprefix("rolling").removesuffix("window")
    near = difflib.get_close_matches(folded, spellings, n=1, cutoff=0.8)
    for each in (folded, plain, *near):
        if each in spellings:
            found = spellings[each]
            return found if " " in found or found.startswith("sash.") else f"sash.{found}"
    return None


def _folded(name: str) -> str:
    return name.replace("_", "").lower()


_NAME = "'name of a column'"
_SLIDING = "sash.sliding('1 hour', every='1 minute')"
_OF_CALLS = ("on", "by", "watermark", "allowed_lateness", "emit", "partial", "late", "flush", "in_order", "store")
_OF_WINDOWS = ("size", "every", "offset", "zone")
_OF_FRAMES = ("rows", "range", "groups", "closed", "exclude", "center", "min_samples", "order", "descending")

# How the keywords of sash are written.
EXAMPLES = {
    **{name: f"{name}={_NAME}" for name in ("on", "by", "order", "column")},
    "rows": "rows=100",
    "range": "range='1 hour'",
    "groups": "groups=10",
    "min_samples": "min_samples=1",
    "size": "size='1 hour'",
    "every": "every='1 minute'",
    "gap": "gap='30 minutes'",
    "descending": "descending=True",
    "center": "center=True",
    "where": "where='x > 0'",
    **{name: f"{name}='1 minute'" for name in ("watermark", "allowed_lateness", "delay", "max_future")},
    "q": "q=0.95",
    "population": "population=True",
    "separator": "separator=','",
    "precision": "precision=12",
    "late": "late='keep'",
    "emit": "emit='updates'",
}

# Keywords of other libraries, and the keywords of sash that mean the same; a call may have some of them.
KEYWORDS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("min_periods", "min_count", "min_size", "min_rows"), ("min_samples",)),
    **dict.fromkeys(
        ("window", "window_size", "period", "length", "width", "duration"), ("rows", "range", "groups", "size")
    ),
    "size": ("rows", "range", "groups"),
    **dict.fromkeys(
        ("partition_by", "group_by", "groupby", "key", "keys", "over", "id", "partition", "partitionBy"), ("by",)
    ),
    **dict.fromkeys(
        ("time", "timestamp", "index_column", "ts", "time_column", "order_by", "orderBy", "timeColumn", "date"), ("on",)
    ),
    **dict.fromkeys(("left_on", "right_on"), ("on",)),
    **dict.fromkeys(("left_by", "right_by"), ("by",)),
    **dict.fromkeys(("merge", "reduce"), ("combine",)),
    **dict.fromkeys(("init", "zero", "initializer"), ("identity",)),
    **dict.fromkeys(("accumulate", "map", "prepare"), ("lift",)),
    **dict.fromkeys(("finish", "finalize", "terminate"), ("lower",)),
    **dict.fromkeys(("inverse", "retract", "subtract"), ("invert",)),
    **dict.fromkeys(("sort_by", "tie_breaker"), ("order",)),
    **dict.fromkeys(("weeks", "days", "hours", "minutes", "seconds"), ("size", "range", "gap")),
    **dict.fromkeys(("slide", "step", "hop", "slideDuration", "freq", "interval"), ("every",)),
    **dict.fromkeys(("timeout", "gap_duration", "gapDuration", "inactivity"), ("gap",)),
    **dict.fromkeys(("start_time", "startTime", "origin"), ("offset",)),
    **dict.fromkeys(("tz", "timezone", "time_zone"), ("zone",)),
    **dict.fromkeys(("desc", "ascending", "reverse"), ("descending",)),
    **dict.fromkeys(("centered", "label"), ("center",)),
    **dict.fromkeys(("lateness", "late_by", "grace"), ("allowed_lateness", "watermark")),
    **dict.fromkeys(("delay_threshold", "delayThreshold", "max_delay", "withWatermark"), ("watermark",)),
    **dict.fromkeys(("filter", "condition", "when"), ("where",)),
    **dict.fromkeys(("ddof", "bias"), ("population",)),
    "p": ("q", "precision"),
    **dict.fromkeys(("percentile", "quantile", "percentage"), ("q",)),
    **dict.fromkeys(("sep", "delimiter", "delim"), ("separator",)),
    **dict.fromkeys(("col", "field", "name", "x"), ("column",)),
    **dict.fromkeys(("tolerance", "look_back", "lookback"), ("range",)),
    **dict.fromkeys(("outputMode", "output_mode", "mode"), ("emit",)),
    **{name: (name,) for name in (*_OF_CALLS, *_OF_WINDOWS[1:], "gap", *_OF_FRAMES, "where", "max_future", "delay")},
}

# Where a keyword of sash belongs, if a call does not have it.
ELSEWHERE = {
    **{name: f"sash.aggregate(…, {EXAMPLES.get(name, f'{name}=…')}) or sash.Stream(…)" for name in _OF_CALLS},
    **{name: f"{name}=… in the window, such as {_SLIDING}" for name in _OF_WINDOWS},
    "gap": "gap=… in the window, such as sash.session(gap='30 minutes')",
    **{name: f"sash.rolling(table, on='ts', {EXAMPLES.get(name, f'{name}=…')}, …)" for name in _OF_FRAMES},
    "where": "where=… in the aggregate, such as sash.sum('x', where='x > 0')",
    "max_future": "sash.aggregate(…, max_future='1 hour'), for a stream of Spark",
    "delay": "sash.join(…, delay='1 minute')",
    "q": "q=… in the aggregate, such as sash.quantile('x', q=0.95)",
    "population": "population=… in the aggregate, such as sash.stddev('x', population=True)",
}

# What to write if too many arguments are passed by position.
BY_NAME = {
    "sash.sql": "the name of each table before it, as in sash.sql(text, events=table)",
    "sash.windowed": "the other arguments by name, as in df.pipe(sash.windowed(queries, on='ts'))",
}

# The same for one call, where it is another place.
ELSEWHERE_OF = {
    "sash.join": {
        **dict.fromkeys(
            ("range", "rows", "size", "every"),
            "it in a lookback, such as sash.join(labels, sash.lookback(events, range='1 hour', …), on='ts')",
        ),
        "how": "no how=…: each label has one row in the result, as in a left join",
    },
    **{key: {"by": "who=…, such as sash.argmax('load', who='device')"} for key in ("sash.argmax", "sash.argmin")},
    "sash.frame": {
        name: f"sash.rolling(table, sash.frame(…), on='ts', {EXAMPLES.get(name, f'{name}=…')})"
        for name in ("on", "by", "order", "descending", "watermark")
    },
    "sash.tumbling": {"every": _SLIDING},
    "sash.session": {"every": _SLIDING, "size": _SLIDING},
    **{
        call: dict.fromkeys(
            ("rows", "range", "groups", "size"), f"it in the window of a query, such as sash.query('q', {_SLIDING}, …)"
        )
        for call in ("sash.aggregate", "sash.Stream", "sash.explain", "sash.query")
    },
}
