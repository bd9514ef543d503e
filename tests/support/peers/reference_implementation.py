"""The reference implementation of the protocol, in a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from deltaweb.spark.driver.java import find_java_home
from tests.support.peers.fetched import find_jars

VERSION: Final = "4.4.0"
ZONE: Final = "spark.sql.session.timeZone"
ARTIFACTS: Final = (
    f"io.delta:delta-spark_2.13:{VERSION}",
    f"io.delta:delta-storage:{VERSION}",
)


class RefusedError(Exception):
    """The reference implementation refuses."""


class Reference:
    """The process of the reference implementation."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def answer(self) -> Any:  # noqa: ANN401 (any JSON)
        """Read one answer.

        Raises:
            RefusedError: If it is one.
        """
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        values = json.loads(line) if line else {"error": "the process ended"}
        if "error" in values:
            raise RefusedError(values["error"])
        return values

    def ask(self, **command: str) -> Any:  # noqa: ANN401 (as above)
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        return self.answer()

    def sql(self, text: str, folder: Path) -> list[list[Any]]:
        """Run a statement; values that JSON has no word for come as text.

        Args:
            text: The statement; `{t}` in it is the table.
            folder: The table's folder.
        """
        statement = text.replace("{t}", f"delta.`{folder}`")
        rows: list[list[Any]] = self.ask(sql=statement)["rows"]
        return rows

    def count(self, code: str) -> int:
        """Run code of PySpark, and return how many rows its variable `found` has."""
        num_rows: int = self.ask(python=code)["num_rows"]
        return num_rows

    def live_files(self, folder: Path) -> list[str]:
        """Open a table's log anew, check it, and return its live files."""
        files: list[str] = self.ask(files=str(folder))["files"]
        return files


@contextmanager
def zone_of(reference: Reference, name: str) -> Iterator[None]:
    """The zone of the session of the reference, as long as the context lasts."""
    reference.sql(f"SET {ZONE} = {name}", Path())
    yield
    reference.sql(f"SET {ZONE} = UTC", Path())


@contextmanager
def running_reference(folder: Path) -> Iterator[Reference]:
    """Run the reference implementation; skip where it is not to be had.

    Args:
        folder: Where its process may keep files.
    """
    jars = find_jars(f"delta-{VERSION}", ARTIFACTS, folder)
    command = [
        sys.executable,
        "-m",
        "tests.support.peers.reference_session",
        str(folder),
    ]
    environment = {
        **os.environ,
        "JAVA_HOME": str(find_java_home(folder)),
        # Behind Spark's own: so the archive of Spark's classes fits.
        "SPARK_DIST_CLASSPATH": ":".join(map(str, jars)),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
    }
    with (
        (folder / "stderr").open("wb") as stderr,
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            env=environment,
        ) as process,
    ):
        try:
            reference = Reference(process)
            reference.answer()
            yield reference
        finally:
            assert process.stdin is not None
            process.stdin.close()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
