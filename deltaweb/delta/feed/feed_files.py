"""The file actions of a range of versions, for who reads the files elsewhere.

Rows are left to the reader: a file that was both removed and added comes as both, with
the deletion vectors of the log.

Source: delta_protocol.md, "Reader Requirements for AddCDCFile".
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.feed.changed_files import (
    KINDS,
    action_vectors,
    change_actions,
    feed_actions,
)
from deltaweb.delta.feed.row_schema import feed_schema
from deltaweb.delta.feed.versions import (
    VersionRange,
    definitions,
    range_commits,
    shown_definition,
)
from deltaweb.delta.log.commits.arrow_reader import Longs
from deltaweb.delta.log.commits.fields import METADATA, PROTOCOL, commit_schema
from deltaweb.delta.log.commits.partition_keys import partition_keys
from deltaweb.delta.log.file_actions import (
    DELETION_VECTOR,
    PARTITION_VALUES,
    VECTOR,
    partition_map,
)
from deltaweb.delta.log.store import LogStore
from deltaweb.delta.snapshot.state import Definition, load_definition

FEED_FILES_SCHEMA: Final = pa.schema(
    {
        "kind": pa.string(),
        "version": pa.int64(),
        "timestamp": pa.int64(),
        "path": pa.string(),
        "size": pa.int64(),
        "modification_time": pa.int64(),
        "partition_values": PARTITION_VALUES,
        "stats": pa.string(),
        VECTOR: DELETION_VECTOR,
    }
)
"""Kind is `cdc`, `add` or `remove`; times are milliseconds since the epoch."""
_FIELDS: Final = (
    *("path", "dataChange", "deletionVector", "size"),
    *("modificationTime", "deletionTimestamp", "stats"),
)


class FeedFiles:
    """The files that tell what changed in a range of versions.

    Args:
        with_feed: Whether the change data feed is asked for: each version has to
            record its changes, and one with change data files is told by these alone.
            Otherwise the files that were added and removed are.

    Attributes:
        definitions: What holds at the first version, and at each that changes it.
    """

    def __init__(
        self, store: LogStore, versions: VersionRange, *, with_feed: bool
    ) -> None:
        self._store = store
        self._with_feed = with_feed
        self.range = versions
        lines = commit_schema(METADATA, PROTOCOL)
        start = load_definition(store, versions.first)
        commits = range_commits(store, versions, lines)
        self.definitions = [*definitions(store, start, commits, with_feed=with_feed)]

    def shown(self) -> Definition:
        """Return the version in whose schema a reader takes all of the files."""
        found = shown_definition(self._store, self.range, self.definitions[-1])
        feed_schema(self._store.root, found, self.definitions)
        return found

    def batches(self, first: int | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the files by `FEED_FILES_SCHEMA`, in the order of the log.

        Args:
            first: The version to begin at, the first one for None; a batch holds all
                files of each of its versions.
        """
        end = self.definitions[-1]
        wanted = feed_actions(partition_keys(end.protocol, end.metadata), _FIELDS)
        versions = self.range
        if first is not None:
            versions = replace(versions, first=first)
        for start, batch in range_commits(self._store, versions, wanted):
            chosen = change_actions(batch, with_change_files=self._with_feed)
            yield self._batch(*chosen, start)

    def _batch(
        self, actions: pa.StructArray, kinds: Longs, owners: Longs, first: int
    ) -> pa.RecordBatch:
        times, versions = self.range.times, owners + first
        known, places = np.unique(versions, return_inverse=True)
        made_ms = [times.time_ms(version) or 0 for version in known.tolist()]
        is_add = pa.array(kinds == KINDS.index("add"))
        values = pc.struct_field(actions, ["partitionValues"])
        keys = {values.type.field(i).name for i in range(values.type.num_fields)}
        stats = pc.struct_field(actions, ["stats"])
        return pa.RecordBatch.from_arrays(
            [
                pa.array(KINDS).take(pa.array(kinds)),
                pa.array(versions),
                pa.array(made_ms, pa.int64()).take(pa.array(places)),
                pc.struct_field(actions, ["path"]),
                pc.struct_field(actions, ["size"]),
                pc.coalesce(
                    pc.struct_field(actions, ["modificationTime"]),
                    pc.struct_field(actions, ["deletionTimestamp"]),
                ),
                partition_map(values, frozenset(keys)),
                pc.if_else(is_add, stats, pa.scalar(None, pa.string())),
                action_vectors(actions),
            ],
            schema=FEED_FILES_SCHEMA,
        )
