"""The index that a table has when it is indexed again."""

import json
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.errors import SchemaError
from deltaweb.delta.features.column_mapping import table_schema
from deltaweb.delta.log.store import LogStore
from deltaweb.delta.log.versions import GONE, ReadableRun
from deltaweb.index.files.source import SOURCE, IndexSource, commit_digest, load_source
from deltaweb.index.folder.file_index import (
    COMMIT_SCHEMA,
    COMMITS,
    FILES,
    HISTORY_SCHEMAS,
    METADATA,
    PROTOCOLS,
    SUMMARY,
)
from deltaweb.index.folder.manifest import CorruptIndexError, Manifest, load_manifest
from deltaweb.index.folder.parts import (
    IndexMissingError,
    KeptPart,
    map_batches,
    map_history,
    part_names,
)
from deltaweb.index.folder.result import INDEXED, IndexResult
from deltaweb.index.history.readability import GONE_REASON
from deltaweb.index.query.indexed_block import IndexedBlock, map_blocks


class CannotUpdateError(Exception):
    """The index cannot be updated incrementally; the text completes "because ..."."""


@dataclass(frozen=True, slots=True)
class BaseIndex:
    """An index as it was left."""

    folder: Path
    result: IndexResult

    def is_of_another_log(
        self,
        store: LogStore,
        commits: Sequence[int],
        latest: int,
        ids: Sequence[tuple[int, str]],
    ) -> bool:
        """Tell whether the log is not the one that the index was made from.

        A log that was cleaned is the same log. Where its commits are another's, or
        it ends earlier, the table was recreated or a backup was put back.

        Args:
            ids: Versions that set the metadata, ascending, with the metaData.id.
        """
        version = self.result.version
        if version is None:
            return False
        if latest < version:
            return True
        if _id_at(ids, version) != self.result.delta_id:
            return True
        known = self.result.commit_digest
        position = bisect_right(commits, version) - 1
        if not known or position < 0 or commits[position] != version:
            return False
        return commit_digest(store, version) not in {known, None}

    def rows_before(self, name: str, version: int) -> Iterator[pa.RecordBatch]:
        """Yield the history that the log has lost: what is older than a version.

        Nothing where the rows are not there, not what was written, or not in our form.

        Args:
            name: `commits.arrow`, `metadata.arrow` or `protocols.arrow`.
        """
        try:
            _check_unchanged(self.folder, name)
            batches = map_batches(self.folder, name, HISTORY_SCHEMAS[name])
        except (IndexMissingError, CorruptIndexError):
            return
        for batch in batches:
            older = batch.filter(pc.less(batch["version"], version))
            if older.num_rows:
                yield mark_gone(older, version) if name == COMMITS else older

    def events_before(self, version: int) -> list[dict[str, Any]]:
        """What the timeline marks of versions that the log has lost."""
        events = self.result.summary.get("events", [])
        return [event for event in events if event["version"] < version]


@dataclass(frozen=True, slots=True, eq=False)
class VerifiedIndex:
    """An index to be updated incrementally: what must be of it was checked."""

    manifest: Manifest
    result: IndexResult
    source: IndexSource
    blocks: tuple[IndexedBlock, ...]
    commits: tuple[KeptPart, ...]
    metadata: Sequence[pa.RecordBatch]
    protocols: Sequence[pa.RecordBatch]
    runs: tuple[ReadableRun, ...]

    @property
    def version(self) -> int:
        return self.source.version

    @property
    def first_version(self) -> int:
        """The oldest version that the log could build."""
        return next(run.first for run in self.runs if run.state != GONE)

    @property
    def first_commit(self) -> int:
        return self.result.first_commit or 0

    @property
    def last_commits(self) -> pa.RecordBatch:
        """The newest rows of `commits.arrow`, with that of its version."""
        return self.commits[-1].rows[-1]

    def kept_part(self, name: str, rows: Sequence[pa.RecordBatch] = ()) -> KeptPart:
        return KeptPart(self.manifest.folder / name, self.manifest.files[name], rows)

    def check_before_reading(self, name: str) -> None:
        """Check a part whose rows are written again."""
        try:
            self.manifest.check(name)
        except CorruptIndexError as error:
            raise CannotUpdateError(str(error)) from error


def load_base(folder: Path) -> BaseIndex:
    """Read what an index says of itself."""
    try:
        _check_unchanged(folder, SUMMARY)
        values: dict[str, Any] = json.loads((folder / SUMMARY).read_text("utf-8"))
        base = BaseIndex(folder, IndexResult.from_json(values))
        _check_form(base.result)
    except (OSError, ValueError, TypeError, KeyError, CorruptIndexError) as error:
        raise IndexMissingError(str(folder)) from error
    return base


def _check_unchanged(folder: Path, name: str) -> None:
    """Check a file of an index, which may be one without a manifest."""
    manifest = load_manifest(folder)
    if manifest is not None:
        manifest.check(*part_names(folder, name))


def _check_form(result: IndexResult) -> None:
    numbers = [result.version, result.first_commit, result.num_tombstones]
    is_sound = (
        all(number is None or _is(number, int) for number in numbers)
        and _is(result.delta_id, str)
        and _is(result.commit_digest, str)
        and _is(result.summary, dict)
        and _is(result.summary.get("events", []), list)
        and all(_is_event(event) for event in result.summary.get("events", []))
    )
    if not is_sound:
        raise TypeError(SUMMARY)


def _is_event(value: Any) -> bool:  # noqa: ANN401 (as JSON gives it)
    return _is(value, dict) and _is(value["version"], int)


def _is(value: Any, kind: type) -> bool:  # noqa: ANN401 (as JSON gives it)
    return type(value) is kind


def open_verified_index(folder: Path) -> VerifiedIndex:
    """Open an index to update, and see that it is sound.

    Of its parts those are read that no update has read since they were written, and
    one of the others in turn.
    """
    try:
        result = load_base(folder).result
        source = load_source(folder)
        manifest = _load_manifest(folder)
        manifest.check(SOURCE, METADATA, PROTOCOLS)
        for name in (FILES, COMMITS):
            manifest = manifest.check_parts(*part_names(folder, name))
        metadata, protocols = (
            map_batches(folder, name, HISTORY_SCHEMAS[name])
            for name in (METADATA, PROTOCOLS)
        )
        base = VerifiedIndex(
            manifest=manifest,
            result=result,
            source=source,
            blocks=tuple(map_blocks(folder, source)),
            commits=(),
            metadata=metadata,
            protocols=protocols,
            runs=tuple(ReadableRun(*run) for run in result.summary["readable_runs"]),
        )
        base = replace(base, commits=_commit_parts(base))
        table_schema(source.protocol, source.metadata)
        _check_is_sound(base)
    except (IndexMissingError, KeyError, CorruptIndexError, TypeError) as error:
        reason = f"its index is incomplete: {error}"
        raise CannotUpdateError(reason) from error
    except SchemaError as error:  # nothing of its files is typed, not even their rows
        reason = "its schema does not parse"
        raise CannotUpdateError(reason) from error
    return base


def _load_manifest(folder: Path) -> Manifest:
    manifest = load_manifest(folder)
    if manifest is None:
        raise IndexMissingError(str(folder))
    if not manifest.has_sizes():
        raise CorruptIndexError(path=folder)
    return manifest


def _commit_parts(base: VerifiedIndex) -> tuple[KeptPart, ...]:
    folder = base.manifest.folder
    parts = map_history(folder, COMMITS, COMMIT_SCHEMA)
    names = part_names(folder, COMMITS)
    return tuple(map(base.kept_part, names, parts))


def mark_gone(commits: pa.RecordBatch, first_version: int) -> pa.RecordBatch:
    """Return rows of `commits.arrow` with older versions marked as gone."""
    lost = pc.and_(
        pc.less(commits["version"], first_version),
        pc.not_equal(commits["readability"], GONE),
    )
    if not lost.true_count:
        return commits
    new = {"readability": GONE, "readability_reason": GONE_REASON}
    columns = [
        pc.if_else(lost, new[name], commits[name]) if name in new else commits[name]
        for name in COMMIT_SCHEMA.names
    ]
    return pa.RecordBatch.from_arrays(columns, schema=COMMIT_SCHEMA)


def _check_is_sound(base: VerifiedIndex) -> None:
    """Check that what an index says of itself fits together."""
    result, version = base.result, base.source.version
    commits = [batch for part in base.commits for batch in part.rows]
    is_sound = (
        (result.state, result.version, result.is_broken) == (INDEXED, version, False)
        and result.first_commit is not None
        and result.commit_digest == base.source.commit_digest
        and isinstance(result.summary["events"], list)
        and bool(commits)
        and commits[-1]["version"][-1].as_py() == version
    )
    if not is_sound:
        reason = "its index is of a log that cannot be read to the end"
        raise CannotUpdateError(reason)
    built = [run for run in base.runs if run.state != GONE]
    follow = [run.first for run in built[1:]] == [run.last + 1 for run in built[:-1]]
    if not built or not follow or built[-1].last != version:
        reason = "its log has holes"
        raise CannotUpdateError(reason)


def _id_at(ids: Sequence[tuple[int, str]], version: int) -> str:
    """Return the id in force at a version, the first one where that is later."""
    position = bisect_right([first for first, _ in ids], version) - 1
    return ids[max(position, 0)][1] if ids else ""


# === What the log has lost ===


@dataclass(frozen=True, slots=True)
class ArchivedHistory:
    """What an older index holds of commits that the log has lost since.

    Attributes:
        base: The older index of the same log; None without one.
    """

    base: BaseIndex | None
    first: int

    def commits(self, newer: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of commits, then those of the log."""
        if self.base is not None:
            yield from self.base.rows_before(COMMITS, self.first)
        yield from newer

    def changes(self, name: str, newer: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Yield the rows of metadata or protocols, then those of the log.

        The log may say what is in force at a version whose commit it has lost.
        """
        first = min([self.first, *newer["version"].to_pylist()[:1]])
        if self.base is not None:
            yield from self.base.rows_before(name, first)
        yield newer

    def events(self) -> list[dict[str, Any]]:
        """What the timeline marks."""
        return [] if self.base is None else self.base.events_before(self.first)
