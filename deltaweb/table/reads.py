"""What a table shows of its newest version: rows, and what a notebook says of it."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from deltaweb.delta.shown import Shown
from deltaweb.delta.snapshot.frames import Frames
from deltaweb.table.opened import OpenedTable

if TYPE_CHECKING:
    from pyarrow.dataset import Dataset

    from deltaweb.delta.scan.rows import RowScan


class TableReads(OpenedTable, Shown, Frames):
    """The newest version of a table, looked up at each call."""

    def scan(
        self,
        columns: Sequence[str] | None = None,
        predicate: Any = None,  # noqa: ANN401  # as `Frames` says
        limit: int | None = None,
        *,
        typed_variants: bool = False,
    ) -> "RowScan":
        """Read rows of the newest version; see `Frames`."""
        return self.snapshot().scan(
            columns, predicate, limit, typed_variants=typed_variants
        )

    def to_pyarrow_dataset(self) -> "Dataset":
        """Return the files of the newest version as a dataset; see `Frames`."""
        return self.snapshot().to_pyarrow_dataset()

    def __repr__(self) -> str:
        return f"DeltaTable({self._store.root!r})"  # nothing is read for it

    def _title(self) -> str:
        return self._store.root

    def facts(self) -> Iterable[tuple[str, object]]:
        """Yield what a notebook shows of it."""
        newest = self.snapshot_metadata()
        yield "version", newest.version
        yield from newest.facts()

    def column_types(self) -> Iterable[Sequence[object]]:
        """Yield name and type of each column."""
        return self.snapshot_metadata().column_types()
