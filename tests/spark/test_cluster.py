"""Executors of their own answer as this process does, and as Spark's own functions do; and there is no Spark where none
is asked for.
"""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent

SCRIPT = """
import os, shutil, sys
from pathlib import Path
os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
sys.path.insert(0, {root!r})  # for the driver alone: executors have sash, and no tests
import pyspark
from pyspark.sql import SparkSession
from tests.spark.jvm import HASTY
spark = (
    SparkSession.builder.master("local-cluster[2,1,1024]").appName("sash cluster test")
    .config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
    .config("spark.sql.shuffle.partitions", "4").config("spark.sql.session.timeZone", "UTC")
    .config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
    .config("spark.driver.extraJavaOptions", HASTY).config("spark.executor.extraJavaOptions", HASTY)
    .config("spark.executor.memory", "1g").config("spark.sql.adaptive.coalescePartitions.enabled", "false")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("OFF")
import pyarrow as pa
import sash
from sash.engine.options import CallOptions
from sash.spark.driver import batch
from tests.spark import test_equality as equality
from tests.spark.native import answers, difference

given = {{
    "id": list(range(2000)),
    "t": [each * 7919 % 2003 - 500 for each in range(2000)],
    "k": [str(each % 7) for each in range(2000)],
    "x": [each % 101 if each % 11 else None for each in range(2000)],
}}
rows = spark.createDataFrame(list(zip(*given.values())), "id long, t long, k string, x long").repartition(4).cache()
table = pa.table(given)
values = dict(n=sash.count(), s=sash.sum("x"), m=sash.max("x"), a=sash.last("x"))
grids = [
    sash.query("sliding", sash.sliding(60, every=7), **values),
    sash.query("ten", sash.tumbling(10, offset=3), **values),
]
edges = ("k", "query", "window_start", "window_end")


def read(table, identity):
    found = {{}}
    for row in table.to_pylist():
        found[tuple(row.pop(name) for name in identity)] = row
    return found


for path, queries in (("packed", [*grids, sash.query("visit", sash.session(gap=20), **values)]), ("jvm", grids)):
    wanted = read(sash.aggregate(table, queries, on="t", by="k"), edges)
    assert len(wanted) > 500
    found = answers(batch.aggregate(rows, queries, CallOptions("t", "k"), path=path), edges)
    assert not (wrong := difference(found, wanted)), path + wrong

frames = [sash.frame(rows=20, **values), sash.frame(range=30, near=sash.sum("x"))]
wanted = read(sash.rolling(table, *frames, on="t", by="k"), ["id"])
found = answers(sash.rolling(rows, *frames, on="t", by="k"), ["id"])
assert not (wrong := difference(found, wanted)), wrong

for seed in (0, 1, 2):
    equality.test_windows_are_those_of_spark_on_every_path(spark, seed)
for seed in (1, 4):
    equality.test_frames_are_those_of_over(spark, seed)

hosts = spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos()
own = Path(pyspark.__file__).parent / "work" / spark.sparkContext.applicationId
spark.stop()
shutil.rmtree(own, ignore_errors=True)  # what the executors said; Spark keeps it for ever
print("executors", len(hosts) - 1)
"""


@pytest.mark.long
def test_executors_of_their_own_answer_as_one_process_does(tmp_path: Path) -> None:
    """To files: the JVM has the same output as the script, and a pipe would be read until the JVM is gone, too."""
    script = textwrap.dedent(SCRIPT).format(root=str(ROOT))
    said, errors = tmp_path / "out.txt", tmp_path / "err.txt"
    with said.open("w") as out, errors.open("w") as err:
        done = subprocess.run([sys.executable, "-c", script], stdout=out, stderr=err, timeout=900, check=False, cwd="/")
    assert done.returncode == 0, errors.read_text()[-2000:]
    assert said.read_text().splitlines()[-1] == "executors 2"


def test_importing_sash_imports_no_spark() -> None:
    script = "import sash, sys; assert 'pyspark' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
