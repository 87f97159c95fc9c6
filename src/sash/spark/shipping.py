"""The package to the executors of a session, where nobody has installed it."""

import tempfile
import zipfile
from pathlib import Path
from typing import Any

__all__ = ["ship"]


def ship(spark: Any) -> None:
    """Add sash itself to a session's executors, from the driver's copy; they need its dependencies, as PySpark's do.

    Executors that have sash installed do not need it. Numba, NumPy and PyArrow hold compiled code that cannot be sent
    along: where executors lack them, install them there, or send a packed environment with `spark.archives`.
    """
    package = Path(__file__).parent.parent
    folder = Path(tempfile.mkdtemp(prefix="sash-"))
    archive = folder / "sash.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as target:
        for path in sorted(package.rglob("*.py")):
            target.write(path, Path("sash") / path.relative_to(package))
    spark.addArtifacts(str(archive), pyfile=True)
