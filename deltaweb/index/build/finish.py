"""The end of every build of an index, whichever way the log was read.

the commit that the files are of, the history, what pages draw, the facts
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from deltaweb.delta.errors import DeltaError, SchemaError
from deltaweb.delta.log.commits.partition_keys import partition_keys
from deltaweb.delta.log.versions import ReadableRun
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.snapshot.checksum import VersionFiles, check_version
from deltaweb.index.build.health_facts import (
    KnownCheckpoints,
    NotedCommits,
    health_facts,
)
from deltaweb.index.files.file_rows import NewestFiles
from deltaweb.index.files.source import write_source
from deltaweb.index.folder.file_index import COMMITS, HISTORY_SCHEMAS, write_summary
from deltaweb.index.folder.parts import KeptPart, Piece, write_parts
from deltaweb.index.folder.result import INDEXED, UNSUPPORTED, IndexResult
from deltaweb.index.history.commit_rows import MAX_EVENTS
from deltaweb.index.history.lifetimes import Longs
from deltaweb.index.history.reader import Progress
from deltaweb.index.history.stored_values import bounded_names, clean_json, clean_text
from deltaweb.index.summary import files_summary, history_summary, target_file_size
from deltaweb.table import DeltaTable

if TYPE_CHECKING:
    import pyarrow as pa

from itertools import islice

from deltaweb.delta.features.clustering import clustering_columns
from deltaweb.delta.log.store import LogStore
from deltaweb.delta.row_tracking.logged_fields import load_domains


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRequest:
    """An index to make.

    Attributes:
        folder: The folder to make; written beside and renamed.
        report: Called with the step, what is done of it, of how much, and the unit.
        max_bytes: The most bytes of the log to read here; None for any.
    """

    table: DeltaTable
    folder: Path
    base: Path | None
    report: Progress
    now_ms: int
    max_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenFiles:
    """The files of the newest version, as `files.arrow` has them.

    Attributes:
        newest: The files; None where they may not be read, and are not written.
    """

    newest: NewestFiles | None
    summary: Mapping[str, Any]

    @classmethod
    def of(cls, newest: NewestFiles | None, snapshot: Snapshot) -> "WrittenFiles":
        names = list(dict.fromkeys(snapshot.metadata.partition_columns))
        keys = partition_keys(snapshot.protocol, snapshot.metadata)
        schema = None
        with suppress(SchemaError):
            schema = snapshot.schema
        return cls(newest=newest, summary=files_summary(newest, names, keys, schema))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReadLog:
    """What a log says, by whichever way it was read.

    Attributes:
        rows: The history by the name of its file; each is consumed.
        runs: Which versions can be read, from 0 on.
        events: What the timeline marks, oldest first.
        commit_digest: What `commit_digest` says of it; None where it is not readable.
        first_commit: The oldest commit that the log holds; None without any.
        checkpoints: The checkpoints that the log holds.
        is_rewritten: Whether the index before is of another log.
        fault: What hides newer versions, if anything does.
    """

    snapshot: Snapshot
    files: WrittenFiles
    rows: Mapping[str, Iterable[Piece]]
    runs: list[ReadableRun]
    events: list[dict[str, Any]]
    committed_at_ms: int
    commit_digest: str | None
    first_commit: int | None
    checkpoints: KnownCheckpoints
    is_rewritten: bool = False
    fault: DeltaError | None = None


def finish_index(request: BuildRequest, beside: Path, log: ReadLog) -> IndexResult:
    """Write all of an index but its files, and return the facts of its version."""
    newest = log.files.newest
    # A fault may hide newer versions, which an incremental update would not see.
    if newest is not None and log.fault is None:
        write_source(beside, log.snapshot, log.commit_digest, newest)
    request.report("Writing the index", 0, None, "")
    commits = _Commits()
    for name, schema in HISTORY_SCHEMAS.items():
        pieces = log.rows[name]
        seen = commits.watch(pieces) if name == COMMITS else pieces
        write_parts(beside, name, schema, seen)
    configuration = log.snapshot.metadata.configuration
    result = replace(
        _newest_facts(log.snapshot, newest, commits),
        folder=str(request.folder),
        committed_at_ms=log.committed_at_ms,
        summary=clean_json(
            {
                **history_summary(log.runs, commits.timestamps_ms, request.now_ms),
                "target_file_size_bytes": target_file_size(configuration),
                "events": log.events[-MAX_EVENTS:],
                **log.files.summary,
                **domains_summary(request.table.store, log.snapshot),
                "checksum": _checksum(request, log),
                "health": health_facts(
                    beside,
                    log.snapshot,
                    newest,
                    commits.noted,
                    log.checkpoints,
                    first_commit=log.first_commit,
                    now_ms=request.now_ms,
                ),
            }
        ),
        first_commit=log.first_commit,
        is_rewritten=log.is_rewritten,
        commit_digest=log.commit_digest or "",
    )
    if log.fault is not None:
        result = replace(result, is_broken=True).with_error(log.fault)
        if not result.fault:
            words = f"what follows version {result.version} cannot be read"
            result = replace(result, fault=words)
    write_summary(beside, result.to_json())
    return result


def _checksum(request: BuildRequest, log: ReadLog) -> dict[str, object] | None:
    """Hold the newest version against its checksum file, where both can be read."""
    newest = log.files.newest
    if newest is None or log.fault is not None:
        return None
    files = VersionFiles(newest.files["size"], newest.num_vectors)
    try:
        return check_version(request.table.store, log.snapshot, files).describe()
    except DeltaError:  # a second opinion that cannot be had is none
        return None


class _Commits:
    """What the commits of an index say together, noted while they are written."""

    def __init__(self) -> None:
        self.noted = NotedCommits()
        self._last: pa.RecordBatch | None = None

    def watch(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        for piece in pieces:
            for batch in piece.rows if isinstance(piece, KeptPart) else [piece]:
                self.noted.take(batch)
                self._last = batch
            yield piece

    @property
    def timestamps_ms(self) -> Longs:
        return self.noted.column("timestamp_ms")

    def last(self, name: str, version: int) -> int | None:
        if self._last is None or self._last["version"][-1].as_py() != version:
            return None
        number: int | None = self._last[name][-1].as_py()
        return number


def _newest_facts(
    snapshot: Snapshot, newest: NewestFiles | None, commits: _Commits
) -> IndexResult:
    """Return the facts of the newest version, made fit for every database."""
    try:
        num_columns = len(snapshot.schema.fields)
    except SchemaError:
        num_columns = None
    facts = IndexResult(
        state=UNSUPPORTED if newest is None else INDEXED,
        version=snapshot.version,
        delta_id=clean_text(snapshot.metadata.id or ""),
        num_columns=num_columns,
        partition_columns=bounded_names(snapshot.metadata.partition_columns),
    ).with_error(snapshot.refusal)
    if newest is None:  # the log says that much of files that are not read
        return replace(
            facts,
            num_files=commits.last("num_files", snapshot.version),
            size_bytes=commits.last("size_bytes", snapshot.version),
        )
    return replace(
        facts,
        num_files=newest.num_files,
        size_bytes=newest.size_bytes,
        num_records=newest.total_records,
        num_tombstones=newest.num_tombstones,
    )


# === Metadata by domain ===

FEATURE: Final = "domainMetadata"
MAX_DOMAINS: Final = 20
MAX_LENGTH: Final = 500


def domains_summary(store: LogStore, snapshot: Snapshot) -> dict[str, Any]:
    """Return what `Table.summary` holds of a version's domains.

    Returns:
        `clustering`, the dotted names of the clustering columns, and `domains`, the
        beginning of the configuration of each domain by its name; both empty where
        there are none or the log does not read.
    """
    try:
        domains = _domains(store, snapshot)
        clustered, _ = (
            clustering_columns(domains, snapshot.schema) if domains else ([], [])
        )
    except DeltaError:  # an index without them is better than none
        domains, clustered = {}, []
    first = islice(sorted(domains.items()), MAX_DOMAINS)
    return {
        "clustering": bounded_names(".".join(path) for path in clustered),
        "domains": {name[:MAX_LENGTH]: said[:MAX_LENGTH] for name, said in first},
    }


def _domains(store: LogStore, snapshot: Snapshot) -> dict[str, str]:
    if FEATURE not in (snapshot.protocol.writer_features or ()):
        return {}
    return load_domains(store, snapshot.version)
