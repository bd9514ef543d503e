"""Peers that are no packages of this environment, fetched once into the user's cache.

Where they cannot be had, whoever asks for them is skipped with the reason.
"""

import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import pytest

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
<groupId>{group}</groupId><artifactId>{name}</artifactId><version>{version}</version>
<exclusions>
<exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion>
</exclusions>
</dependency>
"""


def find_jars(name: str, artifacts: Sequence[str], folder: Path) -> list[Path]:
    """Return jars, fetched by Maven where they are not cached.

    Args:
        name: What they are cached as.
        artifacts: GROUP:NAME:VERSION of each.
        folder: Where they are kept when the user's cache folder takes nothing.
    """

    def fetch(place: Path) -> None:
        maven = shutil.which("mvn")
        if maven is None:
            pytest.skip(f"{name} is fetched by mvn, which is missing")
        parts = [dict(zip(_PARTS, one.split(":"), strict=True)) for one in artifacts]
        pom = place / "pom.xml"
        dependencies = "".join(DEPENDENCY.format(**one) for one in parts)
        pom.write_text(POM.format(dependencies=dependencies), encoding="utf-8")
        copy = (maven, "-B", "-q", "-f", str(pom), "dependency:copy-dependencies")
        _run(name, *copy, f"-DoutputDirectory={place}")
        if len(list(place.glob("*.jar"))) < len(artifacts):
            pytest.skip(f"mvn brought no {name}")

    return sorted(_cached(name, folder, fetch).glob("*.jar"))


def find_package(name: str, folder: Path) -> Path:
    """Return a folder with a package of Python, NAME==VERSION, and no other one."""

    def fetch(place: Path) -> None:
        install = (str(Path(sys.prefix) / "bin" / "uv"), "pip", "install", "--no-deps")
        python = ("--python", sys.executable)
        _run(name, *install, *python, "--target", str(place), name)

    return _cached(name.replace("==", "-"), folder, fetch)


_PARTS: Final = ("group", "name", "version")


def _run(name: str, *command: str) -> None:
    try:
        subprocess.run(
            command, check=True, capture_output=True, timeout=FETCH_TIMEOUT_S
        )
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"{name} is not fetched: {error}"[:300])


def _cached(name: str, folder: Path, fetch: Callable[[Path], None]) -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    place = cache / "deltaweb-tests" / name
    if not place.is_dir():
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            beside = place.with_name(f".{name}.{secrets.token_hex(4)}")
            beside.mkdir()
        except OSError:
            place, beside = folder / name, folder / f".{name}"
            beside.mkdir()
        try:
            fetch(beside)
            if not place.is_dir():  # nobody else was quicker
                beside.rename(place)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    return place
