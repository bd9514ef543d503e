"""The recorded tables and Parquet files: our own, and those of folders outside.

Our own are packed in `tests/recorded`. Who asks first unpacks them to a temporary
folder that is named by the digest of the archive, so that all processes and runs share
it. No test changes it: a test that writes takes a copy.
"""

import hashlib
import json
import os
import tarfile
import tempfile
from functools import cache
from pathlib import Path
from typing import Any, Final

from filelock import FileLock

ARCHIVE: Final = Path(__file__).parents[2] / "recorded" / "recorded.tar.xz"
SUFFIX: Final = ".expected.json"
"""What is recorded of a Parquet file is in a file of its name and this."""
OUTSIDE: Final = {
    "DELTAWEB_GOLDEN": "recorded tables",
    "DELTAWEB_PARQUET": "recorded Parquet files",
}


@cache
def own_folder() -> Path:
    """Return where our own are."""
    digest = hashlib.sha256(ARCHIVE.read_bytes()).hexdigest()[:16]
    place = Path(tempfile.gettempdir()) / f"deltaweb-recorded-{os.getuid()}-{digest}"
    with FileLock(f"{place}.lock"):
        if not place.exists():
            new = Path(tempfile.mkdtemp(prefix=f"{place.name}."))
            with tarfile.open(ARCHIVE) as archive:
                # Python 3.11.2 has no filters; those from 3.12 on ask for one.
                archive.extraction_filter = getattr(tarfile, "data_filter", None)
                archive.extractall(new)  # noqa: S202 (our own archive)
            new.rename(place)
    return place


def is_own(name: str) -> bool:
    """Return whether a recorded table is one of our own, by its name."""
    return name.startswith(("delta-spark__", "deltalake__"))


def outside(variable: str) -> Path | None:
    """Return the folder that a variable names; None where there is none."""
    name = os.environ.get(variable)
    return Path(name).resolve() if name and Path(name).is_dir() else None


def table_folders(*within: str) -> dict[str, Path]:
    """Return the folder of each recorded table by its name, our own first.

    Args:
        within: Where in the folder outside its tables are.
    """
    places = [own_folder() / "tables"]
    if (more := outside("DELTAWEB_GOLDEN")) is not None:
        places.append(more.joinpath(*within))
    found = [
        path for place in places for path in sorted(place.iterdir()) if path.is_dir()
    ]
    folders = {path.name: path for path in found}
    assert len(folders) == len(found), "two recorded tables have one name"
    return folders


def parquet_files(*within: str) -> dict[str, Path]:
    """Return the recorded Parquet files by their names, our own first.

    Args:
        within: Empty for those that are whole, `bad` for damaged ones.
    """
    places = [own_folder() / "parquet", outside("DELTAWEB_PARQUET")]
    found = [
        path
        for place in places
        if place is not None
        for path in sorted(place.joinpath(*within).glob("*.parquet*"))
        if not path.name.endswith(SUFFIX)
    ]
    files = {path.name: path for path in found}
    assert len(files) == len(found), "two recorded files have one name"
    return files


def file_record(path: Path) -> dict[str, Any]:
    """Return what is recorded of a Parquet file."""
    name = path.name if path.parent.name == "bad" else path.stem
    text = path.with_name(f"{name}{SUFFIX}").read_text(encoding="utf-8")
    record: dict[str, Any] = json.loads(text)
    return record


def missing_folders() -> list[str]:
    """Return a line for each folder outside that this run does not read."""
    return [
        f"Not read: more {what}, as {variable} names no folder."
        for variable, what in OUTSIDE.items()
        if outside(variable) is None
    ]
