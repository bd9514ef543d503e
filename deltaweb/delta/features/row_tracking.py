"""Row tracking: rows keep an id over rewrites, by fields of add and remove.

Source: delta_protocol.md, "Row Tracking".
"""

from dataclasses import dataclass, replace
from typing import Final
from uuid import uuid4

from deltaweb.delta.features.feature import Configuration, Feature, LogWriting
from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.delta.protocol.schema import PrimitiveType, StructField

ROW_TRACKING: Final = "rowTracking"
ROW_TRACKING_PROPERTY: Final = "delta.enableRowTracking"
SUSPENDED: Final = "delta.rowTrackingSuspended"
ROW_ID_COLUMN: Final = "delta.rowTracking.materializedRowIdColumnName"
ROW_VERSION_COLUMN: Final = "delta.rowTracking.materializedRowCommitVersionColumnName"


@dataclass(frozen=True, slots=True)
class RowIdColumns:
    """The columns of data files in which rows keep what they were known by."""

    row_id: str
    version: str

    @property
    def fields(self) -> tuple[StructField, ...]:
        """The columns, as a schema would have them."""
        names = (self.row_id, self.version)
        return tuple(StructField(name, PrimitiveType("long")) for name in names)


def _is_true(configuration: Configuration, name: str) -> bool:
    return configuration.get(name, "").lower() == "true"


def assigns_row_ids(protocol: Protocol, metadata: Metadata) -> bool:
    """Return whether every file that is added gets ids for its rows."""
    is_known = ROW_TRACKING in (protocol.writer_features or ())
    return is_known and not _is_true(metadata.configuration, SUSPENDED)


def kept_row_ids(protocol: Protocol, metadata: Metadata) -> RowIdColumns | None:
    """Return where rows keep their ids that are written again; None for nowhere."""
    configuration = metadata.configuration
    if not assigns_row_ids(protocol, metadata):
        return None
    if not _is_true(configuration, ROW_TRACKING_PROPERTY):
        return None
    return RowIdColumns(configuration[ROW_ID_COLUMN], configuration[ROW_VERSION_COLUMN])


def with_row_id_columns(metadata: Metadata) -> Metadata:
    """Return a new table's metaData, with columns for ids where it tracks rows."""
    configuration = metadata.configuration
    if not _is_true(configuration, ROW_TRACKING_PROPERTY):
        return metadata
    names = {
        ROW_ID_COLUMN: f"_row-id-col-{uuid4()}",
        ROW_VERSION_COLUMN: f"_row-commit-version-col-{uuid4()}",
    }
    return replace(metadata, configuration={**configuration, **names})


def _lacks_columns(metadata: Metadata) -> bool:
    """Return whether rows are to keep ids, and it is not said where."""
    configuration = metadata.configuration
    return _is_true(configuration, ROW_TRACKING_PROPERTY) and not (
        configuration.get(ROW_ID_COLUMN) and configuration.get(ROW_VERSION_COLUMN)
    )


FEATURE: Final = Feature(
    ROW_TRACKING, log_writing=LogWriting.CARRIED, asks_writers=_lacks_columns
)
