"""The reference implementation of the protocol: where its jars are, and its process.

Maven fetches the jars once into the user's cache folder; where that cannot be done,
whoever asks for them is skipped with the reason.
"""

import json
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

VERSION: Final = "4.4.0"
ARTIFACTS: Final = (f"delta-spark_2.13:{VERSION}", f"delta-storage:{VERSION}")
FETCH_TIMEOUT_S: Final = 240
POM: Final = """<project>
<modelVersion>4.0.0</modelVersion>
<groupId>tests</groupId><artifactId>jars</artifactId><version>1</version>
<packaging>pom</packaging>
<dependencies>{dependencies}</dependencies>
</project>
"""
# Spark has all else that they need.
DEPENDENCY: Final = """<dependency>
<groupId>io.delta</groupId><artifactId>{name}</artifactId><version>{version}</version>
<exclusions>
<exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion>
</exclusions>
</dependency>
"""


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
def running_reference(folder: Path) -> Iterator[Reference]:
    """Run the reference implementation; skip where it is not to be had.

    Args:
        folder: Where its process may keep files.
    """
    jars = find_jars(folder)
    command = [
        sys.executable,
        "-m",
        "tests.support.peers.reference_session",
        str(folder),
    ]
    environment = {
        **os.environ,
        "JAVA_HOME": str(_java_home(folder)),
        # Behind Spark's own: so the archive of Spark's classes fits.
        "SPARK_DIST_CLASSPATH": ":".join(sorted(map(str, jars.glob("*.jar")))),
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


def find_jars(folder: Path) -> Path:
    """Return the folder of the jars, fetched where they are not cached.

    Args:
        folder: Where they are kept when the user's cache folder takes nothing.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    jars = cache / "deltaweb-tests" / f"delta-{VERSION}"
    if not jars.is_dir():
        try:
            jars.parent.mkdir(parents=True, exist_ok=True)
            beside = jars.with_name(f".{jars.name}.{secrets.token_hex(4)}")
            beside.mkdir()
        except OSError:
            jars, beside = folder / "jars", folder / ".jars"
            beside.mkdir()
        try:
            _fetch(beside)
            if not jars.is_dir():  # nobody else was quicker
                beside.rename(jars)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    return jars


def _fetch(folder: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        pytest.skip("the reference implementation is fetched by mvn, which is missing")
    parts = (artifact.split(":") for artifact in ARTIFACTS)
    dependencies = "".join(DEPENDENCY.format(name=n, version=v) for n, v in parts)
    pom = folder / "pom.xml"
    pom.write_text(POM.format(dependencies=dependencies), encoding="utf-8")
    command = [
        *(maven, "-B", "-q", "-f", str(pom), "dependency:copy-dependencies"),
        f"-DoutputDirectory={folder}",
    ]
    try:
        subprocess.run(
            command, check=True, capture_output=True, timeout=FETCH_TIMEOUT_S
        )
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"the reference implementation is not fetched: {error}"[:300])
    if len(list(folder.glob("*.jar"))) < len(ARTIFACTS):
        pytest.skip("mvn brought no reference implementation")


def _java_home(folder: Path) -> Path:
    from deltaweb.spark.driver.java import find_java_home

    return find_java_home(folder)
