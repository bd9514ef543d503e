"""An archive of the classes that Spark loads: with it a JVM starts in half the time.

    python -m deltaweb.management.class_archive

makes it, once for a Java and a Spark. Whoever starts a JVM uses it where it is there;
without it, or with one that does not fit, Java loads the classes from Spark's archives.

Source: "Class Data Sharing" in the documentation of Java 17, "Dynamic Archiving".
"""

import hashlib
import shutil
import sys
from pathlib import Path
from typing import Final

import pyspark

FOLDER: Final = Path(sys.prefix, "share", "deltaweb")
# One that does not fit is left aside without a word: Java then starts as ever.
_QUIET: Final = "-Xlog:cds=off -Xlog:cds+dynamic=off -Xlog:class+path=off"


def reading_options(java_home: Path) -> str:
    """Return the options with which a JVM uses its archive, "" where there is none."""
    archive = find_archive(java_home)
    return f" -XX:SharedArchiveFile={archive} {_QUIET}" if archive else ""


def writing_options(archive: Path) -> str:
    """Return the options with which a JVM leaves an archive when it ends."""
    return f" -XX:ArchiveClassesAtExit={archive} {_QUIET}"


def has_base_archive(java_home: Path) -> bool:
    """Whether this Java can make one: it adds to the archive of Java's own classes."""
    return (java_home / "lib" / "server" / "classes.jsa").exists()


def find_archive(java_home: Path) -> Path | None:
    """Return the archive of this Java and this Spark; None where there is none.

    Java itself looks whether an archive is of its classes, but dies of one that was
    cut off. So its name tells its size.
    """
    for path in FOLDER.glob(f"spark-{_fingerprint(java_home)}-*.jsa"):
        if path.stem.endswith(f"-{path.stat().st_size}"):
            return path
    return None


def keep_archive(made: Path, java_home: Path) -> Path:
    """Move an archive to where `find_archive` looks, in the place of older ones."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for older in FOLDER.glob("spark-*.jsa"):
        older.unlink()
    size_bytes = made.stat().st_size
    name = f"spark-{_fingerprint(java_home)}-{size_bytes}.jsa"
    beside = FOLDER / f".{name}"
    shutil.move(made, beside)
    return beside.replace(FOLDER / name)


def _fingerprint(java_home: Path) -> str:
    """Tell this Java and this Spark, and where and when they were installed.

    Java leaves an archive aside whose classes come from older or newer files.
    """
    release = java_home / "release"
    text = release.read_text("utf-8") if release.exists() else ""
    jars = Path(pyspark.__file__).parent / "jars"
    times = sorted(jar.stat().st_mtime_ns for jar in jars.glob("spark-*.jar"))
    key = f"{java_home}\n{text}\n{jars}\n{pyspark.__version__}\n{times}"
    return hashlib.sha256(key.encode()).hexdigest()[:16]
