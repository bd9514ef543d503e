"""What became of each field of a table, from one definition of its columns to the next.

A lane is a field. Where columns are mapped it is known by what it is stored as, however
deep, so that it stays one when it is renamed, and a field that is dropped and added
again under its name is another; elsewhere it is known by its names, and a name that
comes back is the same lane. A table that begins to map columns stores them under the
names that they had, so the lanes go on.

A new definition costs the columns that changed: those whose JSON is as it was are
skipped.
"""

from deltaweb.delta.changes.lanes.definitions import SchemaDefinition
from deltaweb.delta.changes.lanes.lane import (
    Lane,
    LaneEvent,
    LaneEventKind,
    SchemaLanes,
)
from deltaweb.delta.changes.lanes.weaving import schema_lanes

__all__ = [
    "Lane",
    "LaneEvent",
    "LaneEventKind",
    "SchemaDefinition",
    "SchemaLanes",
    "schema_lanes",
]
