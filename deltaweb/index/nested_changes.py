"""Changes of earlier releases that may have lost or exchanged nested values.

Up to 0.8.3, where Spark evaluated an update, a delete or a merge, the fields of structs
became NULL in tables with column mapping, and were matched by position in others. The
log says which release made a commit, and not whether Spark evaluated it. So every such
commit is one to look at.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.features.column_mapping import is_mapped
from deltaweb.delta.protocol.schema import StructType, parse_schema, types_in
from deltaweb.index.history.commit_rows import History
from deltaweb.words import counted
from deltaweb.writer.merge.clauses import quoted

LAST_WRONG: Final = (0, 8, 3)
"""The last release that lost nested values."""
_ENGINE: Final = re.compile(r"deltaweb/([0-9]+)\.([0-9]+)\.([0-9]+)")
_REPAIR: Final = (
    "MERGE INTO {table} AS t USING (SELECT * FROM {table} VERSION AS OF {before}) AS s "
    "ON t.KEY = s.KEY WHEN MATCHED THEN UPDATE SET {taken}"
)
_LOSING: Final = {"UPDATE", "DELETE", "MERGE"}
_EXCHANGING: Final = {"UPDATE", "MERGE"}


@dataclass(frozen=True, slots=True, kw_only=True)
class NestedChange:
    """A commit of an earlier release that may have changed nested values.

    Attributes:
        columns: The columns that hold structs.
        is_mapped: Whether the table mapped columns: then values may be lost.
        num_rows: Rows in the files that it wrote; None where the log does not say.
        vacuumed: Whether the version before lacks files, or the log no longer has it.
    """

    version: int
    operation: str
    engine: str
    columns: tuple[str, ...]
    is_mapped: bool
    num_files: int
    num_rows: int | None
    vacuumed: bool = False

    @property
    def sentence(self) -> str:
        rows = "" if self.num_rows is None else f" of {counted(self.num_rows, 'row')}"
        fault = "lost" if self.is_mapped else "exchanged"
        names = ", ".join(self.columns)
        return (
            f"v{self.version}: {self.operation} by {self.engine} wrote "
            f"{counted(self.num_files, 'file')}{rows}. Where Spark evaluated it, "
            f"fields in {names} may be {fault}"
        )

    def repair(self, location: str) -> str | None:
        """Return the MERGE that takes the values of the version before.

        Returns:
            SQL in which KEY stands for what identifies a row; None where files of that
            version are gone.
        """
        if self.vacuumed:
            return None
        names = map(quoted, self.columns)
        taken = ", ".join(f"t.{name} = s.{name}" for name in names)
        return _REPAIR.format(
            table=f"delta.{quoted(location)}", before=self.version - 1, taken=taken
        )

    def describe(self, location: str) -> dict[str, Any]:
        return {
            "version": self.version,
            "operation": self.operation,
            "engine": self.engine,
            "columns": [*self.columns],
            "is_mapped": self.is_mapped,
            "num_files": self.num_files,
            "num_rows": self.num_rows,
            "repair": self.repair(location),
        }


def nested_changes(history: History) -> Iterator[NestedChange]:
    """Yield the commits of a history that may have changed nested values."""
    definitions = [*_definitions(history.metadata_batch())]
    for _, batch in history.commit_batches():
        wanted = batch.select(
            ["version", "operation", "engine_info", "num_added_files", "added_rows"]
        )
        for row in wanted.to_pylist():
            if not row["num_added_files"] or not _is_of_earlier(row):
                continue
            found = _nested_change(row, definitions)
            if found is not None:
                yield found


def _nested_change(
    row: dict[str, Any], definitions: list["_Definition"]
) -> NestedChange | None:
    known = [one for one in definitions if one.version <= row["version"]]
    if not known or not known[-1].columns:
        return None
    if not known[-1].is_mapped and row["operation"] not in _EXCHANGING:
        return None
    return NestedChange(
        version=row["version"],
        operation=row["operation"],
        engine=row["engine_info"],
        columns=known[-1].columns,
        is_mapped=known[-1].is_mapped,
        num_files=row["num_added_files"],
        num_rows=row["added_rows"],
    )


def _is_of_earlier(row: dict[str, Any]) -> bool:
    engine = _ENGINE.match(row["engine_info"] or "")
    if engine is None or row["operation"] not in _LOSING:
        return False
    return tuple(map(int, engine.groups())) <= LAST_WRONG


@dataclass(frozen=True, slots=True)
class _Definition:
    """What a table is from a version on."""

    version: int
    columns: tuple[str, ...]
    is_mapped: bool


def _definitions(metadata: pa.RecordBatch) -> Iterator[_Definition]:
    for row in metadata.select(
        ["version", "schema_string", "configuration"]
    ).to_pylist():
        try:
            schema = parse_schema(row["schema_string"])
        except DeltaError:
            columns: tuple[str, ...] = ()
        else:
            columns = tuple(
                column.name
                for column in schema.fields
                if any(
                    isinstance(kind, StructType) for kind in types_in(column.data_type)
                )
            )
        configuration = json.loads(row["configuration"])
        yield _Definition(row["version"], columns, is_mapped(configuration))
