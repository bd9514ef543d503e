"""Run code of other libraries, line by line, in a process of its own.

Some clients come as packages of one release, which is not the one of this environment:
a `Sidecar` starts a process that finds that release first. It reads a line of JSON,
{"code", "shown"}, runs the code and answers with a line: the number of rows of what
the variable `shown` holds, and where they are; or the error.
"""

import json
import os
import subprocess
import sys
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import Any, cast

import pandas as pd
import pyarrow as pa


class SidecarError(Exception):
    """What the library says."""


class Sidecar:
    """A process that has some packages; what code keeps stays to the next.

    Args:
        folder: For rows.
        packages: The folder that is looked in first.
        environment: Further variables of the process.
    """

    def __init__(self, folder: Path, packages: Path, **environment: str) -> None:
        paths = [str(packages), os.environ.get("PYTHONPATH", "")]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.peers.sidecar", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                **environment,
                "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            },
        )

    def run(self, code: str, shown: str) -> dict[str, Any]:
        """Return `num_rows` and `path` of what code makes, or its `error`."""
        if self._process.stdin is None or self._process.stdout is None:
            raise ValueError(shown)
        print(
            json.dumps({"code": code, "shown": shown}),
            file=self._process.stdin,
            flush=True,
        )
        return cast("dict[str, Any]", json.loads(self._process.stdout.readline()))

    def rows(self, code: str, shown: str) -> pa.Table | pd.DataFrame:
        """Return the rows of what code makes.

        Raises:
            SidecarError: If it makes none.
        """
        told = self.run(code, shown)
        if "error" in told:
            raise SidecarError(told["error"])
        if told["path"].endswith(".pickle"):
            return pd.read_pickle(told["path"])  # noqa: S301 (our own process wrote it)
        with pa.OSFile(told["path"]) as file:
            return pa.ipc.open_file(file).read_all()

    def close(self) -> None:
        """End the process."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait(timeout=60)
        if self._process.stdout is not None:
            self._process.stdout.close()


def main(folder: Path) -> None:
    """Answer until nothing is asked any more."""
    for line in sys.stdin:
        asked = json.loads(line)
        names: dict[str, Any] = {}
        try:
            with redirect_stdout(sys.stderr):
                exec(asked["code"], names)  # noqa: S102 (what people are told to run)
            told = _told(names[asked["shown"]], folder)
        except Exception as error:  # noqa: BLE001 (which one is what is asked)
            told = {"error": f"{type(error).__name__}: {error}"}
            if duckdb := sys.modules.get("duckdb"):
                with suppress(duckdb.Error):  # an error outlives its statement
                    duckdb.rollback()
        print(json.dumps(told), flush=True)  # noqa: T201 (the answer)


def _told(shown: Any, folder: Path) -> dict[str, Any]:  # noqa: ANN401 (any frame)
    if type(shown).__name__ == "DuckDBPyRelation":
        num_rows = shown.aggregate("count(*)").fetchone()[0]
        if "VARIANT" in str(shown.types):  # of which Arrow has none
            return {"num_rows": num_rows, "path": None}
        rows = shown.to_arrow_table()
    elif hasattr(shown, "to_arrow"):
        rows = shown.to_arrow()
    elif hasattr(shown, "toArrow"):  # of Spark
        rows = shown.toArrow()
    else:
        path = str(folder / "rows.pickle")
        shown.to_pickle(path)
        return {"num_rows": len(shown), "path": path}
    path = str(folder / "rows.arrow")
    with pa.OSFile(path, "wb") as file, pa.ipc.new_file(file, rows.schema) as writer:
        writer.write_table(rows)
    return {"num_rows": rows.num_rows, "path": path}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
