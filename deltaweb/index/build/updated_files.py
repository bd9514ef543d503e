"""Write `files.arrow` for an incremental update: old rows as they are, then new ones.

Parts of which no file went stay. Rows of the others stream from the mapping of the old
part into a new one, a batch at a time, and the memory of the mapping is given back
behind them.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

import pyarrow as pa

from deltaweb.delta.log.blocks import SelectedBlock
from deltaweb.delta.snapshot import Snapshot
from deltaweb.index.build.new_commits import NewCommits
from deltaweb.index.files.file_rows import (
    FileColumns,
    NewestFiles,
    block_rows,
    choose_columns,
    has_fitting_values,
    map_newest,
    no_rows,
    write_rows,
)
from deltaweb.index.folder.parts import is_worth_keeping
from deltaweb.index.history.reader import Progress
from deltaweb.index.query.indexed_block import IndexedBlock, indexed_block


def write_updated_files(
    folder: Path, snapshot: Snapshot, new: NewCommits, report: Progress
) -> NewestFiles:
    """Write the files of the version that an index is updated to.

    What is typed by the schema is typed again, from the statistics as text, where the
    new version has another schema or room for other columns.
    """
    columns = choose_columns(snapshot)
    if not _has_fitting_values(columns, new):
        # An index must show a table whose writer got a value wrong.
        columns = columns.with_texts()
    _write(folder, columns, snapshot, new, report)
    return map_newest(
        folder,
        num_tombstones=(new.base.result.num_tombstones or 0) + new.num_tombstones,
        is_typed=columns.has_typed_partitions,
    )


def _has_fitting_values(columns: FileColumns, new: NewCommits) -> bool:
    """Tell whether partition values are of their types; what is typed already is."""
    source = new.base.source
    are_typed = (
        source.has_typed_partitions
        and source.metadata.schema_string == new.metadata.schema_string
    )
    blocks = [*new.new_blocks, *(() if are_typed else new.old_blocks)]
    return all(has_fitting_values(block, columns) for block in blocks)


def _write(
    folder: Path,
    columns: FileColumns,
    snapshot: Snapshot,
    new: NewCommits,
    report: Progress,
) -> None:
    keeps_rows = _keeps_rows(columns, new)
    kept, again = _parted(new) if keeps_rows else ([], new.old_blocks)

    def rows() -> Iterator[pa.Table]:
        done = snapshot.num_files - sum(
            block.num_files for block in (*again, *new.new_blocks)
        )
        read: list[IndexedBlock] = []
        for selected in again:
            report("Writing the files", done, snapshot.num_files, "files")
            yield _old_rows(selected, columns, keeps_rows=keeps_rows)
            # Its last rows wait to fill a batch with the next block's first ones.
            _release(read)
            read = [indexed_block(selected)]
            done += selected.num_files
        for selected in new.new_blocks:
            report("Writing the files", done, snapshot.num_files, "files")
            yield block_rows(selected, columns)
            done += selected.num_files

    for name in dict.fromkeys(indexed_block(block).part for block in again):
        new.base.check_before_reading(name)
    write_rows(folder, columns, rows(), map(new.base.kept_part, kept))
    _release(map(indexed_block, new.old_blocks))


def _parted(new: NewCommits) -> tuple[list[str], list[SelectedBlock]]:
    """Return the parts that stay, and the blocks whose rows are written again."""
    kept: list[str] = []
    again: list[SelectedBlock] = []
    for part, same in groupby(new.old_blocks, lambda one: indexed_block(one).part):
        blocks = [*same]
        is_whole = all(block.mask is None for block in blocks)
        num_files = sum(block.num_files for block in blocks)
        if is_whole and (is_worth_keeping(num_files) or not new.has_file_changes):
            kept.append(part)
        else:
            again += blocks
    return kept, again


def _release(blocks: Iterable[IndexedBlock]) -> None:
    """Give back the memory of blocks that were read."""
    for block in blocks:
        block.mapped.release()


def _old_rows(
    selected: SelectedBlock, columns: FileColumns, *, keeps_rows: bool
) -> pa.Table:
    if not keeps_rows:
        return block_rows(selected, columns)
    rows = indexed_block(selected).rows
    kept = rows if selected.mask is None else rows.filter(selected.mask)
    return pa.Table.from_batches([kept])


def _keeps_rows(columns: FileColumns, new: NewCommits) -> bool:
    """Tell whether rows of the index are what they would be if made again."""
    source = new.base.source
    schema = no_rows(columns).schema
    return (
        source.metadata.schema_string == new.metadata.schema_string
        and source.has_typed_partitions == columns.has_typed_partitions
        and all(
            indexed_block(selected).rows.schema.equals(schema)
            for selected in new.old_blocks
        )
    )
