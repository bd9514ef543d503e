"""The ids that the files of a commit get, for whichever version it makes.

New files get the ids after the highest that a row ever had; files that the table had
before keep theirs. Who gives way to other commits begins after the ids that they took.

Source: delta_protocol.md, "Writer Requirements for Row Tracking".
"""

import json
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.log.file_actions import VECTOR
from deltaweb.delta.log.store import LogStore
from deltaweb.delta.row_tracking.logged_fields import (
    BASE_ROW_ID,
    HIGH_WATER_MARK,
    LOGGED_FIELDS,
    NO_ROW_ID,
    PROVIDER,
    ROW_VERSION,
    load_high_water_mark,
    load_logged_fields,
)
from deltaweb.delta.values.statistics.record_counts import record_counts

FIELDS: Final = (BASE_ROW_ID, ROW_VERSION, PROVIDER)


@dataclass(slots=True, eq=False)
class FileNumbering:
    """What is known of the ids of a transaction's files before its version is.

    Attributes:
        assigns_ids: Whether files get ids; else they only keep what they have.
    """

    added: pa.Table
    removed: pa.Table
    assigns_ids: bool
    root: str
    mark: int = NO_ROW_ID

    @classmethod
    def of(  # noqa: PLR0913 (one commit, all of it needed)
        cls,
        store: LogStore,
        version: int | None,
        *,
        added: pa.Table,
        removed: pa.Table,
        assigns_ids: bool,
        are_files_new: bool,
    ) -> Self:
        """Read from the log what the files of a transaction have.

        Args:
            version: The version that was read; None for a new table.
            are_files_new: Whether added files without a vector are new.
        """
        is_new = are_files_new and (
            VECTOR not in added.column_names
            or added[VECTOR].null_count == added.num_rows
        )
        if version is None or (is_new and not removed.num_rows):
            mark = NO_ROW_ID
            if assigns_ids and version is not None and added.num_rows:
                mark = load_high_water_mark(store, version)
            return cls(
                with_fields(added), with_fields(removed), assigns_ids, store.root, mark
            )
        logged = load_logged_fields(store, version)
        return cls(
            with_fields(added, logged.of(added["path"])),
            with_fields(removed, logged.of(removed["path"])),
            assigns_ids,
            store.root,
            logged.high_water_mark,
        )

    def follow(self, mark: int | None) -> None:
        """Begin after the ids that another commit took, if it took any."""
        self.mark = max(self.mark, NO_ROW_ID if mark is None else mark)

    def of_version(self, version: int) -> tuple[pa.Table, str | None]:
        """Return the added files, by `LOGGED_FIELDS`, and the domain's configuration.

        None for that where no id is new.
        """
        if not (self.assigns_ids and self.added.num_rows):
            return self.added, None
        base = self.added[BASE_ROW_ID].combine_chunks()
        counts = record_counts(self.added["stats"].to_pylist())
        is_fresh = base.is_null()
        if pc.any(pc.and_(is_fresh, counts.is_null())).as_py():
            reason = "a restored file has neither row ids nor a number of rows"
            raise LogCorruptError(path=self.root, reason=reason)
        fresh = pc.if_else(is_fresh, pc.fill_null(counts, 0), 0).to_numpy()
        starts = self.mark + 1 + np.cumsum(fresh) - fresh
        versions = self.added[ROW_VERSION].combine_chunks()
        added = _replaced(self.added, BASE_ROW_ID, pc.coalesce(base, pa.array(starts)))
        added = _replaced(
            added, ROW_VERSION, pc.coalesce(versions, pa.scalar(version, pa.int64()))
        )
        highest = self.mark + int(fresh.sum())
        mark = None
        if highest > self.mark:
            said = {HIGH_WATER_MARK: highest}
            mark = json.dumps(said, separators=(",", ":"))
        return added, mark


def with_fields(files: pa.Table, known: pa.Table | None = None) -> pa.Table:
    """Return files with the columns of `LOGGED_FIELDS`; what they have stays."""
    for name in FIELDS:
        field = LOGGED_FIELDS.field(name)
        found = pa.nulls(files.num_rows, field.type) if known is None else known[name]
        if name in files.column_names:
            files = _replaced(files, name, pc.coalesce(files[name], found))
        else:
            files = files.append_column(field, found)
    return files


def _replaced(files: pa.Table, name: str, values: pa.Array) -> pa.Table:
    place = files.schema.get_field_index(name)
    return files.set_column(place, LOGGED_FIELDS.field(name), values)
