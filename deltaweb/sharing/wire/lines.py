"""What the lines of both response formats have in common.

A line is UTF-8 and holds no raw line end of any kind: clients split text at more
characters than a newline. Keys without a value are left out; what the log holds is
passed on as it is, but for how it is escaped and for instants of partitions.

Source: sharing_wire.md, 2.4 and 2.7.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from hashlib import md5, sha256
from types import MappingProxyType
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.sharing.json_text import escaped, hex_text_of, json_bytes, without_pairs
from deltaweb.sharing.wire.partition_values import partition_objects

UNCHANGING: Final = "unchanging_fields"
"""The column of fields that no answer changes, where they are kept with an index."""
DIGESTS: Final = MappingProxyType({"parquet": "path_md5", "delta": "path_sha256"})
"""The columns of what ids of files are made of, by scheme, kept there, too."""
KEPT_SCHEMA: Final = pa.schema(
    {"path_md5": pa.binary(16), "path_sha256": pa.binary(32), UNCHANGING: pa.string()}
)
"""What an index keeps of the lines of files."""
URL_ACCESS: Final = ["url"]
BOTH_ACCESSES: Final = ["url", "dir"]
"""How files are handed out: by signed URLs, and not by credentials of a folder."""
SCHEMES: Final = (*DIGESTS,)
"""How ids of files are derived: MD5 and SHA-256 of the path that the log has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFacts:
    """What is said of a version beside its metadata; None is left out.

    Attributes:
        location: The folder, where it may be read as one by temporary credentials.
    """

    version: int | None = None
    size_bytes: int | None = None
    num_files: int | None = None
    has_feed: bool = False
    location: str | None = None

    def access(self) -> dict[str, object]:
        """Return how the table is read.

        Source: delta_sharing_protocol_2026.md, "Access Modes".
        """
        if self.location is None:
            return {"accessModes": URL_ACCESS}
        return {"location": self.location, "accessModes": BOTH_ACCESSES}


@dataclass(frozen=True, slots=True, kw_only=True)
class FileAnswer:
    """What is said of some files beside what the log has of them.

    Attributes:
        expiration_ms: When the URLs expire, in milliseconds since the epoch.
        id_scheme: How ids are derived: one of `SCHEMES`.
        vector_urls: The URL of each file's deletion vector, row for row, null for one
            that the log holds itself; None where no file has one.
        version: The version that was asked for by number or time; None without.
        instants: The partition columns of instants, by the names that the log has.
    """

    urls: pa.StringArray
    expiration_ms: int
    id_scheme: str
    vector_urls: pa.StringArray | None = None
    version: int | None = None
    timestamp_ms: int | None = None
    instants: frozenset[str] = frozenset()

    def file_ids(self, batch: pa.RecordBatch) -> pa.StringArray:
        kept = DIGESTS[self.id_scheme]
        if kept in batch.schema.names:
            return _hex(batch[kept])
        return file_ids(batch["path"], scheme=self.id_scheme)

    def unchanging_fields(self, batch: pa.RecordBatch) -> pa.StringArray:
        """Return the fields of each file that no answer changes, as they are kept."""
        if UNCHANGING in batch.schema.names:
            return batch[UNCHANGING]
        return unchanging_fields(batch, self.instants)

    def shared_fields(self) -> str:
        """Return the fields that all lines have alike, each after a comma."""
        fields = f',"expirationTimestamp":{self.expiration_ms}'
        if self.version is not None:
            fields += f',"version":{self.version},"timestamp":{self.timestamp_ms}'
        return fields


@dataclass(frozen=True, slots=True, kw_only=True)
class EndAction:
    """What the last line of an answer says; None is left out.

    Attributes:
        refresh_token: What gives the same files fresh URLs.
        next_page_token: What gives the files that follow.
        min_expiration_ms: When the first URL of the answer expires, in milliseconds
            since the epoch.

    Source: delta_sharing_protocol_2026.md, "EndStreamAction".
    """

    refresh_token: str | None = None
    next_page_token: str | None = None
    min_expiration_ms: int | None = None
    error_message: str | None = None

    def line(self) -> bytes:
        """Return the line, which is the same in both formats."""
        return json_line(
            "endStreamAction",
            {
                "refreshToken": self.refresh_token,
                "nextPageToken": self.next_page_token,
                "minUrlExpirationTimestamp": self.min_expiration_ms,
                "errorMessage": self.error_message,
            },
        )


def change_fields(batch: pa.RecordBatch, answer: FileAnswer) -> pa.StringArray:
    """Return the fields of changes that each line has, after a comma.

    Args:
        batch: Changes in the columns version and timestamp.
    """
    return pc.binary_join_element_wise(
        f'{answer.shared_fields()},"version":',
        batch["version"].cast(pa.string()),
        ',"timestamp":',
        batch["timestamp"].cast(pa.string()),
        "",
    )


def json_line(key: str, values: Mapping[str, Any]) -> bytes:
    """Return one line with one object; values that are None are left out."""
    present = {name: value for name, value in values.items() if value is not None}
    return json_bytes({key: present}) + b"\n"


def line_buffer(lines: pa.StringArray) -> bytes:
    return b"" if not len(lines) else bytes(memoryview(lines.buffers()[2]))


def kept_columns(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return what an index keeps of the lines of files, by `KEPT_SCHEMA`.

    Args:
        batch: As `unchanging_fields`, and path.
    """
    digests = [_digests(batch["path"], scheme) for scheme in DIGESTS]
    columns = [*digests, unchanging_fields(batch)]
    return pa.RecordBatch.from_arrays(columns, schema=KEPT_SCHEMA)


def unchanging_fields(
    batch: pa.RecordBatch | pa.Table, instants: Collection[str] = ()
) -> pa.StringArray:
    """Return the fields that the lines of a file have in every answer, after a comma.

    Args:
        batch: Files in the columns partition_values, size and stats.
    """
    return pc.binary_join_element_wise(
        ',"partitionValues":',
        partition_objects(batch["partition_values"], instants),
        ',"size":',
        batch["size"].fill_null(0).cast(pa.string()),
        statistics_entry(batch["stats"]),
        "",
    )


def statistics_entry(stats: pa.StringArray) -> pa.StringArray:
    """Return the field `stats` of each file after a comma, "" where it has none."""
    texts = escaped(without_pairs(stats))
    entry = pc.binary_join_element_wise(',"stats":"', texts, '"', "")
    return entry.fill_null("") if entry.null_count else entry


def file_ids(paths: pa.StringArray, *, scheme: str) -> pa.StringArray:
    """Return the id of each file: a hash of its path as the log writes it.

    So it is the same for every recipient and at every time.
    """
    return _hex(_digests(paths, scheme))


def _digests(paths: pa.StringArray, scheme: str) -> pa.FixedSizeBinaryArray:
    values = paths.cast(pa.binary()).to_pylist()
    if scheme == "delta":
        digests = [sha256(path).digest() for path in values]
    else:
        digests = [md5(path, usedforsecurity=False).digest() for path in values]
    kind = KEPT_SCHEMA.field(DIGESTS[scheme]).type
    data = pa.py_buffer(b"".join(digests))
    return pa.FixedSizeBinaryArray.from_buffers(kind, len(values), [None, data])


def _hex(digests: pa.FixedSizeBinaryArray) -> pa.StringArray:
    width = digests.type.byte_width
    data = memoryview(digests.buffers()[1])
    first = digests.offset * width
    return hex_text_of(data[first : first + len(digests) * width], len(digests))
