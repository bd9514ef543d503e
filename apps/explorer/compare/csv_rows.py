"""Changes of two versions as rows of a CSV file."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow.parquet as pq

from deltaweb.delta.changes import SchemaChanges, ValueChanges
from deltaweb.web.explorer.grid.cells import json_value, python_values

CSV_ROWS = 1_000


def named_rows(changes: SchemaChanges | ValueChanges) -> Iterator[Sequence[object]]:
    """Yield what was added, removed and changed by name, the header first."""
    yield ["change", "name", "from", "to"]
    kinds = (
        ("added", changes.added),
        ("removed", changes.removed),
        ("changed", changes.changed),
    )
    for kind, entries in kinds:
        for entry in entries:
            sides = (
                getattr(side, "type_text", side) for side in (entry.before, entry.after)
            )
            yield [
                kind,
                entry.name,
                *(", ".join(s) if isinstance(s, tuple) else s for s in sides),
            ]


def stored_rows(path: Path) -> Iterator[Sequence[object]]:
    """Yield every changed row, the header first."""
    with pq.ParquetFile(path) as file:
        yield list(file.schema_arrow.names)
        for batch in file.iter_batches(batch_size=CSV_ROWS):
            columns = [python_values(column) for column in batch.columns]
            for row in zip(*columns, strict=True):
                yield [
                    value if isinstance(value, str | int | float) else json_value(value)
                    for value in row
                ]
