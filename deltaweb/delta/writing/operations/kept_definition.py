"""What stays of a definition when one of before comes back.

Ids of columns only go up, identity columns only count on, commits that carry their
times go on doing so, and files are read by what columns are stored as: none of that
goes back with a version.

Source: delta_protocol.md, "Writer Requirements for Column Mapping" and "Writer
Requirements for In-Commit Timestamps".
"""

from dataclasses import replace
from typing import Final

from deltaweb.delta.features.column_mapping import has_mapped_columns, mapping_mode
from deltaweb.delta.features.identity_columns import with_marks_kept
from deltaweb.delta.features.in_commit_timestamps import (
    ENABLED_AT_MS,
    ENABLED_AT_VERSION,
    IN_COMMIT_TIMESTAMPS,
    own_times,
)
from deltaweb.delta.protocol.actions import Metadata
from deltaweb.delta.snapshot.state import Definition
from deltaweb.delta.writing.errors import UnsupportedWriteError
from deltaweb.delta.writing.operations.mapped_columns import MAX_ID, highest_id

OWN_TIMES: Final = (IN_COMMIT_TIMESTAMPS, ENABLED_AT_VERSION, ENABLED_AT_MS)


def restored_metadata(now: Definition, target: Metadata, *, root: str) -> Metadata:
    """Return the metaData with which a version comes back."""
    modes = [
        mapping_mode(metadata.configuration)
        if has_mapped_columns(now.protocol, metadata)
        else "none"
        for metadata in (now.metadata, target)
    ]
    if modes[0] != modes[1]:
        needs = ["columnMapping as it was then: the mode has changed since"]
        raise UnsupportedWriteError(root=root, version=now.version, needs=needs)
    configuration = dict(target.configuration)
    before = now.metadata.configuration
    if own_times(now.protocol, now.metadata) is not None:
        configuration = {k: v for k, v in configuration.items() if k not in OWN_TIMES}
        configuration |= {key: before[key] for key in OWN_TIMES if key in before}
    highest = max(highest_id(now.metadata), highest_id(target))
    if highest:
        configuration[MAX_ID] = str(highest)
    target = with_marks_kept(target, now.metadata)
    if configuration == dict(target.configuration):
        return target
    return replace(target, configuration=configuration)
