"""What users of other libraries call things, and what sash calls them."""

__all__ = ["KEYWORDS", "NAMES"]

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
        ("percentile", "percentile_cont", "percentile_approx", "quantile_cont", "rolling_quantile"),
        "sash.quantile('x', 0.95)",
    ),
    **dict.fromkeys(("prod", "mul"), "sash.product('x')"),
    **dict.fromkeys(("size", "len", "row_count"), "sash.count()"),
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
    "diff": "x minus sash.rolling(table, on='ts', rows=(-1, -1), previous=sash.first('x'))",
    **dict.fromkeys(("row_number", "cumcount"), "sash.rolling(table, on='ts', rows=(None, 0), number=sash.count())"),
    **dict.fromkeys(("cumsum", "cum_sum"), "sash.rolling(table, on='ts', rows=(None, 0), total=sash.sum('x'))"),
    **dict.fromkeys(("expanding", "cumulate"), "sash.cumulative('1 day', every='1 hour')"),
    **dict.fromkeys(("hop", "hopping", "slide", "window"), "sash.sliding('1 hour', every='1 minute')"),
    **dict.fromkeys(("tumble", "fixed", "group_by_dynamic", "resample"), "sash.tumbling('1 hour')"),
    **dict.fromkeys(("session_window", "sessions"), "sash.session(gap='30 minutes')"),
    **dict.fromkeys(("over", "roll", "rolling_by"), "sash.rolling(table, on='ts', rows=100, …)"),
    **dict.fromkeys(
        ("asof", "join_asof", "merge_asof"), "sash.join(labels, sash.lookback(events, rows=1, …), on='ts')"
    ),
    **dict.fromkeys(("agg", "groupby", "group_by", "run"), "sash.aggregate(table, queries, on='ts', by='key')"),
    **dict.fromkeys(
        ("corr", "cov", "covar_samp", "skew", "kurtosis", "ewm", "ema"),
        "an aggregate of your own with sash.Aggregate(name, state=…, identity=…, lift=…, combine=…)",
    ),
}

_OF_CALLS = ("on", "by", "watermark", "allowed_lateness", "emit", "partial", "late", "flush", "in_order", "store")
_OF_WINDOWS = ("every", "offset", "gap")

# Keywords of other libraries, and what to write in a call of sash.
KEYWORDS = {
    **dict.fromkeys(("min_periods", "min_count", "min_size", "min_rows"), "min_samples=1"),
    **dict.fromkeys(
        ("window", "window_size", "size", "period", "length", "width"), "rows=100, range='1 hour' or groups=10"
    ),
    **dict.fromkeys(
        ("partition_by", "group_by", "groupby", "key", "keys", "over", "id", "partition"), "by='name of a column'"
    ),
    **dict.fromkeys(("time", "timestamp", "index_column", "ts", "time_column", "order_by"), "on='name of a column'"),
    **dict.fromkeys(("sort_by", "tie_breaker"), "order='name of a column'"),
    **dict.fromkeys(
        ("slide", "step", "hop"), "every=… in the window, such as sash.sliding('1 hour', every='1 minute')"
    ),
    **dict.fromkeys(("desc", "ascending"), "descending=True"),
    **dict.fromkeys(("centered", "label"), "center=True"),
    **dict.fromkeys(("lateness", "late_by", "grace"), "allowed_lateness='1 minute'"),
    # Options of sash that belong into another call.
    **{name: f"sash.aggregate(…, {name}=…) or sash.Stream(…, {name}=…)" for name in _OF_CALLS},
    **{name: f"{name}=… in the window, such as sash.sliding('1 hour', every='1 minute')" for name in _OF_WINDOWS},
}
