"""In which format a version of a table is answered to a client.

The parquet format serves whoever takes no other, wherever the files are the rows. Who
takes both is answered in the delta format where the protocol allows what the other does
not carry, used or not: a client asks for the metadata of the newest version, and then
in the format of that answer for the files of any. A table that needs the delta format
goes out to clients that take it and read what the version uses.

Source: delta_sharing_protocol_2026.md, "responseFormat" and "readerFeatures".
"""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, TypeAlias

import pyarrow as pa

from deltaweb.delta.features.checkpoint_protection import CHECKPOINT_PROTECTION
from deltaweb.delta.features.column_mapping import COLUMN_MAPPING
from deltaweb.delta.features.deletion_vectors import DELETION_VECTORS
from deltaweb.delta.features.foreign_types import TIMESTAMP_NTZ, VARIANT
from deltaweb.delta.features.registry import required_features
from deltaweb.delta.features.type_widening import TYPE_WIDENING
from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.sharing.capabilities import Capabilities
from deltaweb.sharing.compatibility import Misreading
from deltaweb.sharing.errors import TableMisreadError
from deltaweb.sharing.wire import delta, parquet
from deltaweb.sharing.wire.lines import FileAnswer, TableFacts

FileLines: TypeAlias = Callable[[pa.RecordBatch, FileAnswer], bytes]

IN_DELTA: Final = frozenset(
    {COLUMN_MAPPING, DELETION_VECTORS, TIMESTAMP_NTZ, TYPE_WIDENING, VARIANT}
)
"""The features that an answer in the delta format carries."""


@dataclass(frozen=True, slots=True)
class ResponseFormat:
    """The format of an answer.

    Attributes:
        name: `parquet` or `delta`.
        id_scheme: How ids of files are derived.
        protocol: What a client of the delta format is given as the protocol.
    """

    name: str
    id_scheme: str
    protocol: Protocol

    def head_lines(self, metadata: Metadata, facts: TableFacts) -> bytes:
        if self.name == delta.NAME:
            return delta.head_lines(metadata, self.protocol, facts)
        return parquet.head_lines(metadata, facts)

    def metadata_line(self, metadata: Metadata, facts: TableFacts) -> bytes:
        if self.name == delta.NAME:
            return delta.metadata_line(metadata, facts)
        return parquet.metadata_line(metadata, facts)

    def protocol_lines(self, versions: Sequence[tuple[int, Protocol]]) -> list[bytes]:
        """Return the lines of the protocols of a range, each said once.

        Args:
            versions: Versions and their protocols, ascending; one at least.

        Returns:
            Just one line in the parquet format, which knows one protocol alone.
        """
        if self.name != delta.NAME:
            return [parquet.PROTOCOL_LINE]
        read = self.protocol.reader_features or ()
        lines, last = [], None
        for version, protocol in versions:
            if protocol != last:
                served = delta.served_protocol(protocol, used=read, read=())
                lines.append(delta.protocol_line(served, version=version))
            last = protocol
        return lines

    @property
    def change_lines(self) -> FileLines:
        return delta.change_lines if self.name == delta.NAME else parquet.change_lines

    @property
    def file_lines(self) -> FileLines:
        return delta.file_lines if self.name == delta.NAME else parquet.file_lines


def choose_format(
    capabilities: Capabilities,
    misreadings: Sequence[Misreading],
    *,
    protocol: Protocol,
    table: str,
) -> ResponseFormat:
    """Return the format that a client reads a version in.

    Args:
        misreadings: Why the version would be misread in the parquet format.
    """
    is_plain = capabilities.reads_parquet and not misreadings
    if is_plain and not prefers_delta(capabilities, protocol):
        return _format(parquet.NAME, capabilities, protocol)
    in_delta = capabilities.reads_delta
    unread = [
        found
        for found in misreadings
        if not in_delta
        or found.feature not in IN_DELTA
        or found.feature.lower() not in capabilities.reader_features
    ]
    if unread:
        name = delta.NAME if in_delta else parquet.NAME
        raise TableMisreadError(table=table, misreadings=unread, response_format=name)
    used = {found.feature for found in misreadings}
    served = delta.served_protocol(
        protocol, used=used, read=capabilities.reader_features
    )
    return _format(delta.NAME, capabilities, served)


def prefers_delta(capabilities: Capabilities, protocol: Protocol) -> bool:
    """Return whether a client of both formats is answered in delta, used or not.

    So it is where versions may use what it reads in that format alone, and it reads
    all that the protocol asks of it there.
    """
    if not (capabilities.reads_delta and capabilities.reads_parquet):
        return False
    named = capabilities.reader_features
    served = delta.served_protocol(protocol, used=(), read=named)
    asked = {feature.lower() for feature in served.reader_features or ()}
    return asked <= named and any(
        feature.lower() in named for feature in _allowed(protocol) & IN_DELTA
    )


def _allowed(protocol: Protocol) -> AbstractSet[str]:
    """Return the features that versions under the protocol, or before it, may use."""
    if CHECKPOINT_PROTECTION in (protocol.writer_features or ()):
        return IN_DELTA  # some feature was dropped, and versions that use it are kept
    return {*required_features(protocol)}


def plain_format(capabilities: Capabilities, protocol: Protocol) -> ResponseFormat:
    """Return the format of what is no rows: parquet where the client takes it."""
    name = parquet.NAME if capabilities.reads_parquet else delta.NAME
    return _format(name, capabilities, protocol)


def _format(
    name: str, capabilities: Capabilities, protocol: Protocol
) -> ResponseFormat:
    return ResponseFormat(name, capabilities.file_id_scheme or name, protocol)
