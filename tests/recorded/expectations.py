"""What is recorded of a table: `expected.json`, as CONTRIBUTING describes it."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from tests.recorded import replay
from tests.recorded.readers import (
    DELTALAKE,
    SparkReader,
    UnreadableError,
    deltalake_rows,
    deltalake_statistics,
    digest,
    missing_files,
    schema_of,
)
from tests.recorded.traits import MAPPING, traits
from tests.support.peers.reference_implementation import VERSION

BEGIN: Final = datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
SPARK: Final = f"delta-spark {VERSION}"
ROWS_SHOWN: Final = 12


class DisagreementError(Exception):
    """The writers read a version differently, so that nothing may be recorded of it."""


@dataclass(frozen=True)
class Subject:
    """A table that is recorded.

    Attributes:
        name: The name of the record.
        what: What it shows.
        folder: The table.
        commits: A folder of all its commits, with those that were cleaned up.
        writer: By whom it was written, and whose word counts.
        changes: First and last versions of the ranges whose changes are recorded.
        variants: Columns of variants whose texts are recorded.
        misread: Why another reader has other rows; empty where all must agree.
    """

    name: str
    what: str
    folder: Path
    commits: Path
    writer: str
    changes: tuple[tuple[int, int], ...] = ()
    variants: tuple[str, ...] = ()
    misread: str = ""


def expectations(subject: Subject, spark: SparkReader) -> dict[str, Any]:
    """Return what both writers say of a table."""
    # A writer refuses a version that is older than the data of a table is kept.
    _set_times(subject.folder, datetime.now(UTC) - timedelta(hours=2))
    commits = replay.read_commits(subject.commits)
    versions: dict[str, dict[str, Any]] = {}
    schemas: dict[str, str] = {}
    agreed: set[str] = set()
    state = replay.State()
    for version, state in replay.replay(commits):
        said, schema = state.said(), state.metadata["schemaString"]
        rows = _rows(subject, version, schema, said["paths"], spark)
        if "error" in rows:
            versions[str(version)] = rows
            continue
        agreed |= {*rows.pop("read_by", ())}
        schemas[said["schema"]] = schema
        versions[str(version)] = {**said, **rows}
    changes = [_changes(subject, one, spark) for one in subject.changes]
    times = _set_times(subject.folder, BEGIN)
    kept = {name: said for name, said in versions.items() if "error" not in said}
    newest = max(commits)
    log = [*(subject.folder / "_delta_log").glob("*.json")]
    found = {
        "id": subject.name,
        "what": subject.what,
        "features": traits(subject.folder, kept, schemas, commits),
        "source": {"origin": subject.writer, "commit": None},
        "oracle": {"content": sorted(agreed)},
        "expect": "ok",
        "latest_version": newest,
        "max_listed_version": newest,
        "commit_files": {"count": sum(path.stem.isdigit() for path in log)},
        "commit_mtimes_ms": times,
        "schemas": schemas,
        "versions": versions,
        "history": {"entries": spark.history(subject.folder)},
        "timestamps": [*_timestamps(subject.folder, spark)],
    }
    _add_statistics(found, subject.folder)
    if changes:
        found["changes"] = changes
    for said in changes:
        if said["end"] == newest and "error" not in said:
            names = ("start", "end", "content_sha256")
            found["cdf"] = {
                **{name: said[name] for name in names},
                "rows": said["num_rows"],
            }
    if subject.variants:
        found["variant_json"] = {
            path: spark.variants(subject.folder, path) for path in subject.variants
        }
    return found


def _set_times(folder: Path, begin: datetime) -> dict[str, int]:
    """Give each commit a time, a minute after the one before; packing rounds others."""
    times: dict[str, int] = {}
    for path in sorted((folder / "_delta_log").glob("*.json")):
        if path.stem.isdigit():
            moment = begin + timedelta(minutes=int(path.stem))
            times[str(int(path.stem))] = int(moment.timestamp() * 1_000)
            os.utime(path, (moment.timestamp(), moment.timestamp()))
    return times


def _rows(
    subject: Subject, version: int, schema: str, paths: list[str], spark: SparkReader
) -> dict[str, Any]:
    readers = {SPARK: spark.rows, DELTALAKE: deltalake_rows}
    if missing_files(subject.folder, paths):
        return {"content_error": "data-file-missing"}
    found: dict[str, tuple[int, str]] = {}
    faults: dict[str, str] = {}
    for name, read in readers.items():
        try:
            rows = read(subject.folder, version)
            found[name] = rows.num_rows, digest(schema, rows)
        except UnreadableError as error:
            faults[name] = str(error)
    if subject.writer not in found:
        commit = subject.folder / "_delta_log" / f"{version:020d}.json"
        if commit.exists():
            raise DisagreementError(subject.name, version, faults)
        return {
            "error": "the log no longer has it",
            "said": faults[subject.writer][:200],
        }
    agreed = [name for name, one in found.items() if one == found[subject.writer]]
    if len(agreed) < len(found) and not subject.misread:
        raise DisagreementError(subject.name, version, found)
    num_rows, content = found[subject.writer]
    return {"rows": num_rows, "content_sha256": content, "read_by": agreed}


def _timestamps(folder: Path, spark: SparkReader) -> Iterator[dict[str, Any]]:
    """What version a few times mean: around the first commit and around the last."""
    entries = spark.history(folder)
    newest, oldest = entries[0]["spark_timestamp"], entries[-1]["spark_timestamp"]
    times = sorted({oldest - 1, oldest, newest - 1, newest, newest + 1})
    found = zip(times, spark.versions_at(folder, times), strict=True)
    for time_ms, version in found:
        moment = datetime.fromtimestamp(time_ms / 1_000, UTC)
        said: dict[str, Any] = {
            "timestamp": moment.isoformat(timespec="milliseconds"),
            "timestamp_ms": time_ms,
        }
        if version < 0:
            yield {**said, "error": "before-earliest"}
        elif time_ms > newest:
            yield {**said, "version": version, "after_newest": True}
        else:
            yield {**said, "version": version}


def _add_statistics(found: dict[str, Any], folder: Path) -> None:
    newest = found["versions"][str(found["latest_version"])]
    if MAPPING in newest["metadata"]["configuration"]:
        return  # deltalake has them by the names in files
    statistics = deltalake_statistics(folder)
    paths = {one["path"] for one in statistics or ()}
    if paths and paths <= {*newest["paths"]}:
        found["stats_latest"] = {"oracle": DELTALAKE, "files": statistics}


def _changes(
    subject: Subject, versions: tuple[int, int], spark: SparkReader
) -> dict[str, Any]:
    """Return what is recorded of the changes of a range."""
    said: dict[str, Any] = dict(zip(("start", "end"), versions, strict=True))
    try:
        rows = spark.changes(subject.folder, *versions)
    except UnreadableError as error:
        return {**said, "error": str(error)[:200]}
    fields = [
        one for one in schema_of(rows)["fields"] if not one["name"].startswith("_c")
    ]
    feed = [("_change_type", "string"), ("_commit_version", "long")]
    schema = {
        "type": "struct",
        "fields": [*fields, *({"name": name, "type": kind} for name, kind in feed)],
    }
    return {
        **said,
        "num_rows": rows.num_rows,
        "content_sha256": digest(json.dumps(schema), rows),
        "columns": [field["name"] for field in fields],
        "types": [field["type"] for field in fields],
    }
