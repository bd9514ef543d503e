"""What an index was made from: the very commit, and what the log said by then.

A server that refreshes an index, instead of reading the log, must know that the index
is whole and that the log still is the one it was made from. An index without this file,
of another form, or of a table recreated at the same place is not used: the log is read
then.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.log.paths import commit_name
from deltaweb.delta.log.store import FileStatus, LogStore
from deltaweb.delta.protocol.actions import Format, Metadata, Protocol
from deltaweb.delta.snapshot import Snapshot
from deltaweb.index.files.file_rows import NewestFiles
from deltaweb.index.folder.file_index import FILES
from deltaweb.index.folder.parts import IndexMissingError, size_bytes

SOURCE: Final = "source.json"
FORM: Final = 1  # another number is another form of the index, which is not read
COMMIT_HEAD_BYTES: Final = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSource:
    """The version that an index was made of, and what identifies its commit.

    Attributes:
        commit_digest: SHA-256 of its beginning.
        files_bytes: Size of `files.arrow`, all parts of it.
        has_typed_partitions: Whether `partition` there is typed by the schema; else
            its columns are texts.
    """

    version: int
    protocol: Protocol
    metadata: Metadata
    commit_size: int
    commit_time_ms: int
    commit_digest: str
    num_files: int
    files_bytes: int
    has_typed_partitions: bool

    @property
    def commit_status(self) -> FileStatus:
        """The commit file as a listing of the log shows it."""
        name = commit_name(self.version)
        return FileStatus(name, self.commit_size, self.commit_time_ms)


def write_source(
    folder: Path, snapshot: Snapshot, digest: str | None, newest: NewestFiles
) -> None:
    """Write what `files.arrow` in the folder was made from.

    Nothing is written where the log shows no commit of the version.
    """
    status = snapshot.state.commit_status
    if status is None or digest is None:
        return
    source = IndexSource(
        version=snapshot.version,
        protocol=snapshot.protocol,
        metadata=snapshot.metadata,
        commit_size=status.size,
        commit_time_ms=status.modification_time,
        commit_digest=digest,
        num_files=newest.num_files,
        files_bytes=size_bytes(folder, FILES),
        has_typed_partitions=newest.has_typed_partitions,
    )
    text = json.dumps({"form": FORM, **asdict(source)})
    (folder / SOURCE).write_text(text, encoding="ascii")


def load_source(folder: Path) -> IndexSource:
    """Read what an index was made from."""
    try:
        values = json.loads((folder / SOURCE).read_text(encoding="ascii"))
        if values.pop("form") != FORM or not isinstance(values["version"], int):
            raise IndexMissingError(str(folder))
        return IndexSource(
            **{
                **values,
                "protocol": Protocol(**values["protocol"]),
                "metadata": stored_metadata(values["metadata"]),
            }
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise IndexMissingError(str(folder)) from error


def commit_digest(store: LogStore, version: int) -> str | None:
    """Return a digest of the beginning of a commit; None where it cannot be read."""
    try:
        head = store.read_head(commit_name(version), COMMIT_HEAD_BYTES)
    except (DeltaError, FileNotFoundError):
        return None
    return sha256(head).hexdigest()


def stored_metadata(values: Mapping[str, Any]) -> Metadata:
    """Return a metaData that was written as JSON."""
    return Metadata(**{**values, "format": Format(**values["format"])})
