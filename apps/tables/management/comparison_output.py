"""What changed between two versions, for people."""

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from apps.tables.management import row_output
from deltaweb.delta.changes import (
    FieldChange,
    FieldState,
    RowChanges,
    SnapshotDiff,
    ValueChanges,
)
from deltaweb.delta.errors import SchemaError
from deltaweb.words import counted


def lines(diff: SnapshotDiff, rows: RowChanges | None = None) -> Iterator[str]:
    """Yield the lines of all that changed; what did not says so in a word."""
    before, after = diff.before.version, diff.after.version
    way = "back to" if before > after else "to"
    yield f"From version {before} {way} version {after}"
    try:
        yield from _section("Schema", list(_schema_lines(diff)))
    except SchemaError as error:
        yield from _section("Schema", [f"  {error.message}"])
    yield from _section("Properties", list(_value_lines(diff.properties)))
    yield from _section("Protocol", list(_value_lines(diff.protocol)))
    details = list(_value_lines(diff.details))
    if details:
        yield from _section("Details", details)
    if diff.refusal is None:
        yield from _section("Files", list(_file_lines(diff)))
    if rows is not None:
        yield from _section("Rows", list(_row_lines(rows)))


def warnings(rows: RowChanges) -> Iterator[str]:
    """Yield what is to be known about how rows were compared."""
    columns = rows.columns
    for names, what in (
        (columns.only_before, "only in the first version; null in the second"),
        (columns.only_after, "only in the second version; null in the first"),
        (columns.as_text, "of unlike types in the two versions; never equal"),
    ):
        if names:
            yield f"Columns {what}: {', '.join(names)}."
    if rows.unmatched_keys:
        yield (
            f"{rows.unmatched_keys} keys have several changed rows in a version; "
            "those count as inserted and deleted."
        )
    if rows.null_key_rows:
        yield (
            f"{rows.null_key_rows} changed rows have a null in their key, which "
            "matches no row; they count as inserted or deleted."
        )


def sample_json(rows: RowChanges) -> dict[str, Any]:
    """Return the sample of rows; updates only with a key."""
    sample = rows.sample
    found: dict[str, Any] = {
        "inserted": row_output.json_rows(sample.inserted),
        "deleted": row_output.json_rows(sample.deleted),
    }
    if rows.updated is not None:
        pairs = zip(
            row_output.json_rows(sample.updated_before),
            row_output.json_rows(sample.updated_after),
            sample.changed,
            strict=True,
        )
        found["updated"] = [
            {"from": before, "to": after, "changed": list(changed)}
            for before, after, changed in pairs
        ]
    return found


def _section(title: str, content: Sequence[str]) -> Iterator[str]:
    yield ""
    yield title if content else f"{title}: no change"
    yield from content


def _schema_lines(diff: SnapshotDiff) -> Iterator[str]:
    schema = diff.schema
    for change in schema.added:
        yield f"  + {change.name}  {_state_text(change.after)}"
    for change in schema.removed:
        yield f"  - {change.name}  {_state_text(change.before)}"
    for change in schema.changed:
        yield f"  ~ {change.name}  {_change_text(change)}"
    for path in schema.reordered:
        yield f"  ~ {'.'.join(path) or 'the columns'}  in another order"
    before, after = diff.partition_columns
    if before != after:
        old, new = (", ".join(names) or "nothing" for names in (before, after))
        yield f"  ~ partitioned by {new}, before by {old}"


def _state_text(state: FieldState | None) -> str:
    if state is None:  # pragma: no cover (a change has the side that is asked for)
        return ""
    comment = "" if state.comment is None else f"  {state.comment}"
    return f"{state.type_text}{'' if state.nullable else ' not null'}{comment}"


def _change_text(change: FieldChange) -> str:
    before, after = _state_text(change.before), _state_text(change.after)
    renamed = f"renamed from {change.old_name}" if change.old_name else ""
    if before != after:
        return f"{renamed}{', ' if renamed else ''}{before} -> {after}"
    return renamed or "metadata changed"


def _value_lines(changes: ValueChanges) -> Iterator[str]:
    for change in changes.added:
        yield f"  + {change.name}{_value_text(change.after)}"
    for change in changes.removed:
        yield f"  - {change.name}{_value_text(change.before)}"
    for change in changes.changed:
        yield f"  ~ {change.name} = {change.before} -> {change.after}"


def _value_text(value: object) -> str:
    return "" if isinstance(value, tuple) else f" = {value}"


def _file_lines(diff: SnapshotDiff) -> Iterator[str]:
    files = diff.files
    if files.added.num_rows:
        yield f"  + {_files_text(files.added)} added"
    if files.removed.num_rows:
        yield f"  - {_files_text(files.removed)} removed"
    if files.replaced.num_rows:
        into = _files_text(files.replacing)
        replaced = _files_text(files.replaced)
        yield f"  ~ {replaced} rewritten into {into}, no data changed"
    if files.num_differing:
        yield f"    {files.num_shared:,} files in both"


def _files_text(files: pa.Table) -> str:
    size = sum(chunk.sum().as_py() or 0 for chunk in files["size"].chunks)
    return f"{counted(files.num_rows, 'file')} ({size:,} bytes)"


def _row_lines(rows: RowChanges) -> Iterator[str]:
    sample = rows.sample
    parts = [("+", "inserted", rows.inserted, sample.inserted)]
    parts.append(("-", "deleted", rows.deleted, sample.deleted))
    for sign, word, count, some in parts:
        yield f"  {sign} {count:,} {word}"
        yield from _table_lines(some, count)
    if rows.updated is not None:
        yield f"  ~ {rows.updated:,} updated"
        for name, count in rows.changed_cells.items():
            yield f"      {name}: {count:,}"
        yield from _table_lines(_pairs(rows), rows.updated, lines_each=2)
    yield f"    {rows.num_rows_read:,} rows of {rows.num_files_read:,} files were read"


def _pairs(rows: RowChanges) -> pa.Table:
    """Return updates as pairs of rows, marked with a sign."""
    before, after = rows.sample.updated_before, rows.sample.updated_after
    order = [i for pair in range(before.num_rows) for i in (pair, pair + len(before))]
    both = pa.concat_tables([before, after]).take(pa.array(order, pa.int64()))
    signs = pa.array(["-", "+"] * before.num_rows, pa.string())
    return both.add_column(0, pa.field("", pa.string()), signs)


def _table_lines(rows: pa.Table, count: int, *, lines_each: int = 1) -> Iterator[str]:
    """Yield the rows that are shown, and how many of `count` are not."""
    if not rows.num_rows:
        return
    for line in row_output.row_lines(rows):
        yield f"      {line}"
    shown = rows.num_rows // lines_each
    if shown < count:
        yield f"      ... {count - shown:,} more"
