"""Table properties that are set: their values, and the features that they turn on.

Source: delta_protocol.md, "Change Metadata", and the sections of the features.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from deltaweb.delta.errors import (
    ColumnNotFoundError,
    PropertyError,
    UnknownPropertyError,
)
from deltaweb.delta.features.row_tracking import ROW_ID_COLUMN, ROW_TRACKING_PROPERTY
from deltaweb.delta.protocol.actions import Metadata
from deltaweb.delta.protocol.column_path import (
    ColumnPath,
    parse_path,
    select_leaves,
    split_paths,
)
from deltaweb.delta.protocol.known_properties import nearest_known
from deltaweb.delta.protocol.schema import (
    DataType,
    DecimalType,
    PrimitiveType,
    parse_schema,
    type_text,
)
from deltaweb.delta.protocol.table_properties import (
    CODEC_WORDS,
    LENGTH_WORDS,
    STATISTICS_COLUMNS,
    STRING_PREFIX,
    is_codec,
    is_length,
    parse_interval_ms,
)

FEATURE_PREFIX: Final = "delta.feature."
SUPPORTED: Final = "supported"

Check = Callable[[str], bool]


def _is_boolean(text: str) -> bool:
    return text.lower() in {"true", "false"}


def _is_interval(text: str) -> bool:
    return parse_interval_ms(text) is not None


def _is_count(text: str) -> bool:
    return re.fullmatch(r"[1-9][0-9]{0,8}", text) is not None


def _is_limit(text: str) -> bool:
    return re.fullmatch(r"-1|[0-9]{1,9}", text) is not None


def _is_isolation(text: str) -> bool:
    return text in {"Serializable", "WriteSerializable"}


def _is_policy(text: str) -> bool:
    return text in {"classic", "v2"}


def _is_mode(text: str) -> bool:
    return text in {"none", "name", "id"}


BOOLEAN: Final = (_is_boolean, "true or false")
INTERVAL: Final = (_is_interval, "an interval such as 'interval 7 days'")
EXPECTED: Final[Mapping[str, tuple[Check, str]]] = {
    "delta.appendOnly": BOOLEAN,
    "delta.checkpoint.writeStatsAsJson": BOOLEAN,
    "delta.checkpoint.writeStatsAsStruct": BOOLEAN,
    "delta.checkpointInterval": (_is_count, "a number from 1"),
    "delta.dataSkippingNumIndexedCols": (_is_limit, "a number from -1"),
    STRING_PREFIX: (is_length, LENGTH_WORDS),
    "delta.deletedFileRetentionDuration": INTERVAL,
    "delta.enableExpiredLogCleanup": BOOLEAN,
    "delta.checkpointPolicy": (_is_policy, "classic or v2"),
    "delta.columnMapping.mode": (_is_mode, "none, name or id"),
    "delta.enableChangeDataFeed": BOOLEAN,
    "delta.enableDeletionVectors": BOOLEAN,
    "delta.enableInCommitTimestamps": BOOLEAN,
    "delta.enableRowTracking": BOOLEAN,
    "delta.enableTypeWidening": BOOLEAN,
    "delta.isolationLevel": (_is_isolation, "Serializable or WriteSerializable"),
    "delta.logRetentionDuration": INTERVAL,
    "delta.parquet.compression.codec": (is_codec, CODEC_WORDS),
}
ELSEWHERE: Final[Mapping[str, str]] = {
    "delta.constraints.": "a property that is set by itself: add or drop the "
    "constraint",
    "delta.inCommitTimestampEnablement": "a property that writers keep by themselves",
    "delta.columnMapping.maxColumnId": "a property that writers keep by themselves",
    "delta.rowTracking.": "a property that writers keep by themselves",
    "delta.minReaderVersion": "a property: upgrade the protocol",
    "delta.minWriterVersion": "a property: upgrade the protocol",
}
"""What other operations set; by how their names begin."""
TURNED_ON: Final[Mapping[str, str]] = {
    "delta.appendOnly": "appendOnly",
    "delta.enableChangeDataFeed": "changeDataFeed",
    "delta.enableDeletionVectors": "deletionVectors",
    "delta.enableIcebergCompatV1": "icebergCompatV1",
    "delta.enableIcebergCompatV2": "icebergCompatV2",
    "delta.enableInCommitTimestamps": "inCommitTimestamp",
    "delta.enableRowTracking": "rowTracking",
    "delta.enableTypeWidening": "typeWidening",
    "delta.enableVariantShredding": "variantShredding",
}
"""Features that a property turns on where it is true."""
RESTS_ON: Final[Mapping[str, tuple[str, ...]]] = {
    "clustering": ("domainMetadata",),
    "rowTracking": ("domainMetadata",),
}
"""Features that others must have beside them."""
BOUNDED: Final = frozenset(
    (
        *("byte", "short", "integer", "long", "float", "double"),
        *("date", "timestamp", "timestamp_ntz", "string"),
    )
)
"""Types whose smallest and largest values statistics have, beside decimals."""
VALUED: Final[Mapping[str, tuple[str, str]]] = {
    "delta.checkpointPolicy": ("classic", "v2Checkpoint"),
    "delta.columnMapping.mode": ("none", "columnMapping"),
}
"""Features that a property turns on where it is not of one value."""


def split_features(
    properties: Mapping[str, str],
) -> tuple[list[str], dict[str, str]]:
    """Return the features that `delta.feature.NAME = supported` names, and the rest."""
    named = [
        name
        for name, value in properties.items()
        if name.startswith(FEATURE_PREFIX) and value.lower() == SUPPORTED
    ]
    rest = {name: value for name, value in properties.items() if name not in named}
    features = [name[len(FEATURE_PREFIX) :] for name in named]
    below = [name for feature in features for name in RESTS_ON.get(feature, ())]
    return [*dict.fromkeys((*features, *below))], rest


def check_properties(properties: Mapping[str, str], *, has_values: bool = True) -> None:
    """Refuse properties that are not to be set, or not so.

    Args:
        has_values: Whether values matter: they go otherwise.
    """
    for name, value in properties.items():
        for start, remedy in ELSEWHERE.items():
            if name.lower().startswith(start.lower()):
                raise PropertyError(name=name, value=value, expected=remedy)
        meant = nearest_known(name) if has_values else None
        if meant is not None:
            raise UnknownPropertyError(name=name, value=value, meant=meant)
        check, expected = EXPECTED.get(name, (None, ""))
        if has_values and check is not None and not check(value):
            raise PropertyError(name=name, value=value, expected=expected)


def check_statistics_columns(metadata: Metadata, properties: Mapping[str, str]) -> None:
    """Refuse a list of columns with statistics that does not fit the schema.

    A struct stands for all columns in it.

    Source: Delta Lake, "Data skipping"; delta-spark 4.4 refuses the same lists.
    """
    text = properties.get(STATISTICS_COLUMNS)
    if text is None or metadata.schema_string is None:
        return
    schema = parse_schema(metadata.schema_string)
    found: set[ColumnPath] = set()
    for name in split_paths(text):
        try:
            leaves = select_leaves(schema, [parse_path(name)])
        except ColumnNotFoundError:
            raise _no_statistics(text, f"{name[:80]} is not a column") from None
        first, *_ = leaves
        if first.path[0] in metadata.partition_columns:
            raise _no_statistics(text, f"{name[:80]} is a partition column")
        is_struct = len(first.path) > len(parse_path(name))
        if not (is_struct or _has_bounds(first.data_type)):
            kind = type_text(first.data_type)
            raise _no_statistics(text, f"{name[:80]} is of type {kind}, without bounds")
        paths = {leaf.path for leaf in leaves}
        if paths & found:
            raise _no_statistics(text, f"{name[:80]} is named twice")
        found |= paths


def _has_bounds(data_type: DataType) -> bool:
    if isinstance(data_type, PrimitiveType):
        return data_type.name in BOUNDED
    return isinstance(data_type, DecimalType)


def _no_statistics(text: str, reason: str) -> PropertyError:
    expected = f"a list of columns: {reason} (backticks quote a name)"
    return PropertyError(name=STATISTICS_COLUMNS, value=text, expected=expected)


def check_row_tracking(metadata: Metadata, properties: Mapping[str, str]) -> None:
    """Refuse to begin to track rows: those that are there have no ids."""
    value = properties.get(ROW_TRACKING_PROPERTY, "")
    if value.lower() != "true" or ROW_ID_COLUMN in metadata.configuration:
        return
    expected = "a property that a table is made with: present rows have no ids"
    raise PropertyError(name=ROW_TRACKING_PROPERTY, value=value, expected=expected)


def needed_features(properties: Mapping[str, str]) -> Iterable[str]:
    """Yield the features that a protocol must have for some properties."""
    for name, value in properties.items():
        if name in TURNED_ON and value.lower() == "true":
            yield TURNED_ON[name]
            yield from RESTS_ON.get(TURNED_ON[name], ())
        if name in VALUED and value.lower() != VALUED[name][0]:
            yield VALUED[name][1]
