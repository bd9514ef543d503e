"""One version of a table, and which of its files answer a query.

Source: delta_sharing_protocol.md, "Read Data from a Table".
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltaweb.delta.errors import DeltaError, SchemaError, UnsupportedFeatureError
from deltaweb.delta.log.blocks import FileBlock
from deltaweb.delta.protocol.column_path import ColumnPath
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.scan.predicate import NOTHING, Predicate
from deltaweb.delta.scan.pruning import EVALUATION_FAULTS, Ranges, prune
from deltaweb.delta.scan.skipping import Mask
from deltaweb.delta.snapshot import PARQUET, Snapshot
from deltaweb.delta.values.whole import exact_sum
from deltaweb.index.query.file_part import FilePart, Rows
from deltaweb.index.query.file_selection import FileSelection, SelectedPart
from deltaweb.index.query.indexed_block import IndexedBlock
from deltaweb.index.query.indexed_part import IndexedPart

if TYPE_CHECKING:
    from deltaweb.delta.protocol.actions import Metadata, Protocol

MAX_LONG: Final = (1 << 63) - 1
MAX_SUMMED: Final = 1 << 32  # times the files of any part is less than a long

LivePart: TypeAlias = tuple[FilePart, Mask]


class SharedVersion:
    """A version of a table as recipients are offered it.

    Args:
        parts: The part of each block of files that an earlier version has had.

    Attributes:
        refusal: Why its files may not be offered; None when they may.
    """

    def __init__(
        self, snapshot: Snapshot, *, root: str, parts: Mapping[int, FilePart]
    ) -> None:
        self._snapshot = snapshot
        self._root = root
        self._parts: list[tuple[FilePart, pa.BooleanArray | None]] = [
            (parts.get(id(selected.block)) or _part(selected.block), selected.mask)
            for selected in snapshot.state.blocks
        ]
        self.version: int = snapshot.version
        self.protocol: Protocol = snapshot.protocol
        self.metadata: Metadata = snapshot.metadata
        self.refusal: DeltaError | None = _refusal(snapshot, root)
        self._orders: dict[str, Rows] = {}

    @property
    def snapshot(self) -> Snapshot:
        return self._snapshot

    @property
    def parts(self) -> dict[int, FilePart]:
        return {id(part.block): part for part, _ in self._parts}

    @property
    def root(self) -> str:
        return self._root

    def live_parts(self) -> Iterator[LivePart]:
        """Yield the parts, and marks of the live files of each, for the caller."""
        for part, live in self._parts:
            yield part, _live_rows(part, live)

    @property
    def timestamp(self) -> datetime:
        return self._snapshot.timestamp

    @property
    def schema(self) -> StructType:
        return self._snapshot.schema

    @cached_property
    def has_deletion_vectors(self) -> bool:
        for part, mask in self._parts:
            has_vectors = part.has_vectors
            if has_vectors is None:
                continue
            live = has_vectors if mask is None else has_vectors.filter(mask)
            if live.true_count:
                return True
        return False

    @property
    def index(self) -> str:
        """The name of the index that most of its files are from; "" without one."""
        for part, _ in self._parts:
            if isinstance(part, IndexedPart):
                return part.index
        return ""

    @property
    def num_files(self) -> int:
        return self._snapshot.num_files

    @cached_property
    def num_records(self) -> int | None:
        """Count of the rows of all files, deleted ones too; None if unknown."""
        total = 0
        for part, live in self.live_parts():
            counts = part.num_records.filter(pa.array(live))
            if counts.null_count:
                return None
            total += exact_sum(counts)
        return total

    @property
    def num_files_in_memory(self) -> int:
        return sum(part.num_rows for part, _ in self._parts if type(part) is FilePart)

    @property
    def size_bytes(self) -> int:
        return self._snapshot.size_bytes

    def select(
        self,
        *,
        predicates: Sequence[Predicate] = (),
        limit: int | None = None,
        misses: Predicate = NOTHING,
    ) -> FileSelection:
        """Choose the files that answer a query.

        Args:
            predicates: Hints, all of which hold: a file is left out where one cannot
                be true for any of its rows. One that cannot be evaluated leaves out
                nothing.
            limit: How many rows that the client wants are enough; files stop after
                them. Rows count where all of their file are surely wanted, and the
                file tells how many they are.
            misses: A condition that holds for every row that the client may not want.
        """
        chosen = [
            SelectedPart(part, self.matching(part, live, predicates))
            for part, live in self.live_parts()
        ]
        if limit is not None:
            chosen = self._limited(chosen, limit, misses)
        return self.selection(chosen)

    def selection(self, chosen: Sequence[SelectedPart]) -> FileSelection:
        return FileSelection(chosen, total_files=self.num_files, root=self._root)

    def kept_order(self, name: str, make: Callable[[], Rows]) -> Rows:
        """Return an order of files, which is made once."""
        if name not in self._orders:
            self._orders = {name: make()}
        return self._orders[name]

    def matching(
        self, part: FilePart, live: Mask, predicates: Sequence[Predicate]
    ) -> Mask:
        """Mark those files of a part that hints leave; as `select`."""
        mask = live
        for predicate in predicates:
            if mask.any():
                mask &= self.may_match(part, mask, predicate)
        return mask

    def may_match(
        self, part: FilePart, live: Mask, predicate: Predicate, *, cut_bytes: int = 0
    ) -> Mask:
        """Mark the files that a hint may be true for; all that cannot be judged."""
        sources = [partial(self._partition_ranges, part)]
        sources.append(partial(self._statistics_ranges, part, cut_bytes=cut_bytes))
        return prune(predicate, part.num_rows, sources, among=live)

    def _limited(
        self, chosen: Sequence[SelectedPart], limit: int, misses: Predicate
    ) -> list[SelectedPart]:
        """Keep the files up to the one that reaches the limit."""
        result = []
        missing = min(limit, MAX_LONG)
        for one in chosen:
            if missing <= 0:
                break
            rows = np.flatnonzero(one.mask)
            reached = running_total(self.sure_records(one, misses)[rows], missing)
            enough = np.flatnonzero(reached >= missing)
            mask = one.mask
            if len(enough):
                mask = mask.copy()
                mask[rows[enough[0] + 1 :]] = False
            result.append(SelectedPart(one.part, mask))
            missing -= int(reached[-1]) if len(reached) else 0
        return result

    def sure_records(self, one: SelectedPart, misses: Predicate) -> Rows:
        """Count the rows of files that have no row that the client may not want.

        Zero stands for other files, for those that do not tell, and for those whose
        deletion vector hides some of their rows.
        """
        is_unsure = self.may_match(one.part, one.mask, misses)
        if one.part.has_vectors is not None:
            is_unsure |= one.part.has_vectors.to_numpy(zero_copy_only=False)
        counts: Rows = one.part.num_records.fill_null(0).to_numpy()
        return np.where(is_unsure, 0, counts)

    def _partition_ranges(self, part: FilePart, columns: list[ColumnPath]) -> Ranges:
        ranges = {}
        for path in columns:
            field = self.schema.find(path[0])
            if field is not None and path[0] in self.metadata.partition_columns:
                with suppress(*EVALUATION_FAULTS, SchemaError):
                    ranges[path] = part.partition(field).hinted_range
        return ranges

    def _statistics_ranges(
        self, part: FilePart, columns: list[ColumnPath], *, cut_bytes: int
    ) -> Ranges:
        schema, partitions = self.schema, self.metadata.partition_columns
        wanted = [c for c in columns if schema.find(c[0]) and c[0] not in partitions]
        found = part.ranges(schema, wanted) if wanted else {}
        return {
            path: replace(known, cut_bytes=cut_bytes) for path, known in found.items()
        }


def _part(block: FileBlock) -> FilePart:
    return IndexedPart(block) if isinstance(block, IndexedBlock) else FilePart(block)


def _refusal(snapshot: Snapshot, root: str) -> DeltaError | None:
    provider = snapshot.metadata.format.provider
    if snapshot.refusal is None and provider.lower() != PARQUET:
        return UnsupportedFeatureError(
            root=root,
            version=snapshot.version,
            features=[f"data files of format {provider}"],
        )
    return snapshot.refusal


def _live_rows(part: FilePart, live: pa.BooleanArray | None) -> Mask:
    if live is None:
        return np.ones(part.num_rows, np.bool_)
    mask: Mask = live.to_numpy(zero_copy_only=False)
    return mask.copy()


def running_total(counts: Rows, most: int) -> npt.NDArray[Any]:
    """Add up counts, each capped at `most`, so that no sum of them wraps around."""
    capped = np.clip(counts, 0, most)
    return np.cumsum(capped, dtype=np.int64 if most < MAX_SUMMED else object)
