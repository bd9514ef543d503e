"""Partition values that writers of a table spell in several ways, and one way for all.

A time without a zone is of the zone of whoever wrote it, which the log does not tell:
here it is UTC, and Spark takes that of its session. So such times count as spelled
otherwise even where all of them are; other values do where one of them has two texts.

The values are in the log alone: the files are added again as they are, with their
vectors, statistics and row ids, and no data is read or written. An `add` of a file that
is there takes its place; no `remove` comes with it, for a commit names a file once.

Source: delta_protocol.md, "Partition Value Serialization" and "Add File and Remove
File".
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.errors import PredicateError
from deltaweb.delta.log.file_actions import partition_map
from deltaweb.delta.log.store import TableStore
from deltaweb.delta.protocol.schema import PrimitiveType, StructField, StructType
from deltaweb.delta.scan.skipping import Mask
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.snapshot.state import load_state
from deltaweb.delta.values.partition_values import (
    canonical_texts,
    partition_schema,
    stored_texts,
)
from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.delta.writing.after_commit import commit_and_checkpoint
from deltaweb.delta.writing.operations.restore import with_statistics
from deltaweb.delta.writing.requirements import check_writable
from deltaweb.delta.writing.transaction import CommitResult, TableRead, Transaction
from deltaweb.expressions.session.settings import SessionSettings
from deltaweb.words import counted
from deltaweb.writer.matching import find_matches

OPERATION: Final = "OPTIMIZE"
RESPELLED: Final = "numRespelledFiles"
"""The metric of files whose partition values are spelled otherwise from now on."""
_INSTANT: Final = PrimitiveType("timestamp")


class SpelledColumn(NamedTuple):
    """A partition column whose values have several texts, or times without a zone.

    Attributes:
        is_instant: Whether its values are times that are to have a zone.
        num_ours: Files that spell these values as we do: times in UTC, and say so.
        num_others: Files that spell them otherwise.
        example: How one of the others does.
    """

    column: str
    is_instant: bool
    num_ours: int
    num_others: int
    example: str

    def describe(self) -> dict[str, object]:
        return {
            "column": self.column,
            "num_utc" if self.is_instant else "num_ours": self.num_ours,
            "num_zoneless" if self.is_instant else "num_others": self.num_others,
            "example": self.example,
        }

    @property
    def sentence(self) -> str:
        """What is the matter, for people."""
        others = counted(self.num_others, "file")
        if self.is_instant:
            return (
                f"{self.column}: {others} without a zone ({self.example!r:.60}), "
                f"{self.num_ours:,} in UTC; Spark reads the former in the zone of its "
                "session, and deltaweb in UTC"
            )
        return (
            f"{self.column}: {others} spell a value as {self.example!r:.60}, and "
            f"{self.num_ours:,} as deltaweb does"
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Spelling:
    """One partition column of some files.

    Attributes:
        is_other: The files that are to be spelled as we do.
        is_meant: Those and the ones that spell the same values as we do.
    """

    column: StructField
    texts: pa.Array
    ours: pa.Array
    is_other: Mask
    is_meant: Mask

    @classmethod
    def of(cls, files: pa.Table, column: StructField) -> "_Spelling":
        texts = stored_texts(files["partition_values"], column)
        encoded = texts.dictionary_encode(null_encoding="encode")
        written = canonical_texts(encoded.dictionary, column.data_type)
        said, ours = encoded.dictionary.to_pylist(), written.to_pylist()
        kinds, is_instant = Counter(ours), column.data_type == _INSTANT
        is_meant = [kinds[one] > 1 or (is_instant and bool(one)) for one in ours]
        is_other = [
            meant and text != one
            for meant, text, one in zip(is_meant, said, ours, strict=True)
        ]
        places = encoded.indices.to_numpy(zero_copy_only=False)
        return cls(
            column,
            texts,
            written.take(encoded.indices),
            np.array(is_other, np.bool_)[places],
            np.array(is_meant, np.bool_)[places],
        )

    def summary(self) -> SpelledColumn:
        first = int(np.argmax(self.is_other))
        return SpelledColumn(
            column=self.column.name,
            is_instant=self.column.data_type == _INSTANT,
            num_ours=int((self.is_meant & ~self.is_other).sum()),
            num_others=int(self.is_other.sum()),
            example=self.texts[first].as_py() or "",
        )


def spelled_columns(snapshot: Snapshot) -> list[SpelledColumn]:
    """Return the partition columns of a version that are not spelled in one way."""
    return [one.summary() for one in _spellings(snapshot) if one.is_other.any()]


def _spellings(snapshot: Snapshot) -> Iterator[_Spelling]:
    files = snapshot.files
    if files.num_rows:
        yield from (_Spelling.of(files, column) for column in _columns(snapshot).fields)


def _columns(snapshot: Snapshot) -> StructType:
    return partition_schema(snapshot.schema, snapshot.metadata.partition_columns)


@dataclass(frozen=True, slots=True, eq=False)
class RespellPlan:
    """What spelling values in one way does, or would do.

    Attributes:
        columns: What is spelled otherwise in the whole version.
        files: The files that are added again, with their new texts.
    """

    snapshot: Snapshot
    where: str | None
    columns: tuple[SpelledColumn, ...]
    files: pa.Table


def plan_respell(
    store: TableStore,
    where: str | None = None,
    *,
    version: int | None = None,
    time_zone: str = UTC_ZONE,
) -> RespellPlan:
    """Find the files whose partition values are spelled otherwise."""
    state = load_state(store, version)
    check_writable(state.definition, root=store.root, operation=OPERATION)
    snapshot = Snapshot(store, state)
    spellings = [*_spellings(snapshot)]
    is_chosen = _chosen(snapshot, where, time_zone)
    is_other = np.zeros(snapshot.num_files, np.bool_)
    for one in spellings:
        is_other |= one.is_other
    is_again = pa.array(is_other & is_chosen)
    texts = {
        one.column.stored_name: pc.if_else(pa.array(one.is_other), one.ours, one.texts)
        for one in spellings
    }
    files = with_statistics(snapshot)
    if texts:
        values = pa.StructArray.from_arrays([*texts.values()], names=[*texts])
        place = files.schema.get_field_index("partition_values")
        maps = partition_map(values, frozenset(texts))
        files = files.set_column(place, files.schema.field(place), maps)
    return RespellPlan(
        snapshot=snapshot,
        where=where,
        columns=tuple(one.summary() for one in spellings if one.is_other.any()),
        files=files.filter(is_again),
    )


def _chosen(snapshot: Snapshot, where: str | None, time_zone: str) -> Mask:
    if where is None:
        return np.ones(snapshot.num_files, np.bool_)
    matches = find_matches(
        snapshot, where, settings=SessionSettings(time_zone=time_zone)
    )
    if matches.partly.num_rows:
        reason = "values are spelled by whole partitions, and it names other columns"
        raise PredicateError(reason=reason)
    paths = matches.whole["path"].combine_chunks()
    chosen: Mask = pc.is_in(snapshot.files["path"], value_set=paths).to_numpy()
    return chosen


def carry_out_respell(
    store: TableStore, plan: RespellPlan, *, user_name: str | None = None
) -> CommitResult:
    """Add the files of a plan again, with the new texts of their values."""
    transaction = Transaction(
        base=plan.snapshot.state.definition,
        operation=OPERATION,
        parameters={
            "predicate": [] if plan.where is None else [plan.where],
            "zOrderBy": [],
            "auto": False,
        },
        metrics={RESPELLED: plan.files.num_rows},
        read=TableRead(files=plan.files),
        added=plan.files,
        are_files_new=False,
        data_change=False,
    )
    return commit_and_checkpoint(store, replace(transaction, user_name=user_name))
