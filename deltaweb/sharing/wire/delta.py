"""The lines of answers in the delta format: actions that a Delta library reads.

A client puts them into a log of its own, so they are those of the table's log, but for
the paths, which are URLs, and the properties, of which only those go out that say how
the files are to be read.

Source: delta_sharing_protocol_2026.md, "API Response Actions in Delta Format".
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.deletion_vectors.descriptor import ABSOLUTE
from deltaweb.delta.features.change_feed import CHANGE_DATA_FEED_PROPERTY
from deltaweb.delta.features.column_mapping import COLUMN_MAPPING
from deltaweb.delta.features.deletion_vectors import DELETION_VECTORS
from deltaweb.delta.features.foreign_types import TIMESTAMP_NTZ
from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.sharing.json_text import escaped
from deltaweb.sharing.wire.lines import (
    FileAnswer,
    TableFacts,
    change_fields,
    file_ids,
    json_line,
    line_buffer,
)

NAME: Final = "delta"
READING_PROPERTIES: Final = frozenset(
    {
        "delta.columnMapping.mode",
        "delta.columnMapping.maxColumnId",
        "delta.enableDeletionVectors",
        "delta.enableTypeWidening",
    }
)
_CHANGE_ENDS: Final = {
    "add": ',"dataChange":true',
    "remove": ',"dataChange":true,"extendedFileMetadata":true',
    "cdc": ',"dataChange":false',
}
_TIME_NAMES: Final = {
    "add": ',"modificationTime":',
    "remove": ',"deletionTimestamp":',
}
SPARE_FEATURES: Final = frozenset(
    {
        COLUMN_MAPPING,
        DELETION_VECTORS,
        TIMESTAMP_NTZ,
        "v2Checkpoint",
        "vacuumProtocolCheck",
    }
)
"""Features that say nothing to a reader of files where no file uses them."""


def served_protocol(
    protocol: Protocol, *, used: Collection[str], read: Collection[str]
) -> Protocol:
    """Return the protocol that a client is given.

    A feature that the table allows and no file of the answer uses would turn away a
    client that does not know it, so it is left out for that client; any other stays.

    Args:
        read: The reader features that the client names, lower case.
    """
    if protocol.reader_features is None:
        return protocol
    spare = {
        feature
        for feature in protocol.reader_features
        if feature in SPARE_FEATURES
        and feature not in used
        and feature.lower() not in read
    }
    writer = protocol.writer_features
    return Protocol(
        min_reader_version=protocol.min_reader_version,
        min_writer_version=protocol.min_writer_version,
        reader_features=_without(protocol.reader_features, spare),
        writer_features=None if writer is None else _without(writer, spare),
    )


def covering_protocol(protocols: Sequence[Protocol]) -> Protocol:
    """Return a protocol with the reader features of all versions of a range.

    Args:
        protocols: Those of the versions, at least one.
    """
    newest = max(protocols, key=lambda one: one.min_reader_version)
    if newest.reader_features is None:
        return newest
    return Protocol(
        min_reader_version=newest.min_reader_version,
        min_writer_version=max(one.min_writer_version for one in protocols),
        reader_features=_together(one.reader_features for one in protocols),
        writer_features=_together(one.writer_features for one in protocols),
    )


def head_lines(metadata: Metadata, protocol: Protocol, facts: TableFacts) -> bytes:
    return protocol_line(protocol) + metadata_line(metadata, facts)


def protocol_line(protocol: Protocol, *, version: int | None = None) -> bytes:
    """Return the line of a protocol, as `served_protocol` returns it."""
    actions: dict[str, Any] = {
        "minReaderVersion": protocol.min_reader_version,
        "minWriterVersion": protocol.min_writer_version,
        "readerFeatures": protocol.reader_features,
        "writerFeatures": protocol.writer_features,
    }
    return json_line(
        "protocol", {"deltaProtocol": _present(actions), "version": version}
    )


def metadata_line(metadata: Metadata, facts: TableFacts) -> bytes:
    shown = READING_PROPERTIES | (
        {CHANGE_DATA_FEED_PROPERTY} if facts.has_feed else set()
    )
    table: dict[str, Any] = {
        "id": metadata.id or "",
        "name": metadata.name,
        "description": metadata.description,
        "format": {"provider": metadata.format.provider, "options": {}},
        "schemaString": metadata.schema_string or "",
        "partitionColumns": list(metadata.partition_columns),
        "configuration": {
            name: value
            for name, value in metadata.configuration.items()
            if name in shown
        },
        "createdTime": metadata.created_time,
    }
    return json_line(
        "metaData",
        {
            "deltaMetadata": _present(table),
            **facts.access(),
            "version": facts.version,
            "size": facts.size_bytes,
            "numFiles": facts.num_files,
        },
    )


def file_lines(batch: pa.RecordBatch, answer: FileAnswer) -> bytes:
    """Return a line a file, each an add.

    Args:
        batch: Files in the columns path, size, modification_time, partition_values,
            stats, deletion_vector and relative_vector_path.
    """
    return line_buffer(
        pc.binary_join_element_wise(
            '{"file":{"id":"',
            answer.file_ids(batch),
            '"',
            *_vector_id(batch, answer),
            f'{answer.shared_fields()},"deltaSingleAction":{{"add":{{"path":"',
            escaped(answer.urls),
            '"',
            answer.unchanging_fields(batch),
            ',"modificationTime":',
            batch["modification_time"].fill_null(0).cast(pa.string()),
            ',"dataChange":true',
            *_vector_entry(batch["deletion_vector"], answer),
            "}}}}\n",
            "",
        )
    )


def change_lines(batch: pa.RecordBatch, answer: FileAnswer) -> bytes:
    """Return a line a file: an add, a remove, or a file with changes.

    Args:
        batch: As `file_lines`, and kind, version and timestamp.
    """
    kinds = batch["kind"]
    rest = pa.array([*_CHANGE_ENDS.values()]).take(
        pc.index_in(kinds, value_set=pa.array([*_CHANGE_ENDS]))
    )
    time_name = pa.array([*_TIME_NAMES.values()]).take(
        pc.index_in(kinds, value_set=pa.array([*_TIME_NAMES]))
    )
    times = batch["modification_time"].fill_null(0).cast(pa.string())
    times = pc.binary_join_element_wise(time_name, times, "").fill_null("")
    return line_buffer(
        pc.binary_join_element_wise(
            '{"file":{"id":"',
            answer.file_ids(batch),
            '"',
            *_vector_id(batch, answer),
            change_fields(batch, answer),
            ',"deltaSingleAction":{"',
            kinds,
            '":{"path":"',
            escaped(answer.urls),
            '"',
            answer.unchanging_fields(batch),
            times,
            rest,
            *_vector_entry(batch["deletion_vector"], answer),
            "}}}}\n",
            "",
        )
    )


def _vector_id(batch: pa.RecordBatch, answer: FileAnswer) -> list[pa.StringArray]:
    """Return the id of each deletion vector's file, "" where there is none."""
    if answer.vector_urls is None:
        return []
    places = batch["relative_vector_path"]
    ids = file_ids(places.fill_null(""), scheme=answer.id_scheme)
    ids = pc.if_else(places.is_valid(), ids, pa.scalar(None, pa.string()))
    entry = pc.binary_join_element_wise(',"deletionVectorFileId":"', ids, '"', "")
    return [entry.fill_null("")]


def _vector_entry(vectors: pa.StructArray, answer: FileAnswer) -> list[pa.StringArray]:
    """Return the field `deletionVector` of each file, "" where it has none.

    A vector in a file goes out as one of an absolute path, which is its URL.

    Source: delta_protocol_2026.md, "Deletion Vectors"; sharing_wire.md, M9.
    """
    if answer.vector_urls is None:
        return []
    kind, place, offset, size, cardinality = vectors.flatten()
    is_signed = answer.vector_urls.is_valid()
    at = pc.binary_join_element_wise(',"offset":', offset.cast(pa.string()), "")
    entry = pc.binary_join_element_wise(
        ',"deletionVector":{"storageType":"',
        pc.if_else(is_signed, ABSOLUTE, kind),
        '","pathOrInlineDv":"',
        escaped(pc.coalesce(answer.vector_urls, place)),
        '"',
        at.fill_null(""),
        ',"sizeInBytes":',
        size.cast(pa.string()),
        ',"cardinality":',
        cardinality.cast(pa.string()),
        "}",
        "",
    )
    return [pc.if_else(vectors.is_valid(), entry, "")]


def _without(features: Collection[str], spare: Collection[str]) -> tuple[str, ...]:
    return tuple(feature for feature in features if feature not in spare)


def _together(features: Iterable[Collection[str] | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for some in features for name in some or ()))


def _present(values: dict[str, Any]) -> dict[str, Any]:
    """Return an action without what it does not say."""
    return {name: value for name, value in values.items() if value is not None}
