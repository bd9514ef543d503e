"""What an index keeps of files is what would be made of the log again."""

from pathlib import Path

import pyarrow as pa
import pytest

from deltaweb.index.query.file_selection import FileSelection
from deltaweb.index.query.shared_table import SharedTableReader
from deltaweb.sharing.wire import delta, parquet
from deltaweb.sharing.wire.lines import UNCHANGING, FileAnswer
from deltaweb.sharing.wire.partition_values import instant_columns
from tests.support.logs.delta_logs import add
from tests.support.logs.local_logs import LocalLog, RandomLog, stats_of, typed_schema

pytestmark = pytest.mark.slow


def selections(log: LocalLog, index: Path) -> list[FileSelection]:
    """Open all files of the newest version by the index, and by the log."""
    reader = SharedTableReader
    return [
        reader().open_version(log.table, index_folder=folder).select()
        for folder in (index, None)
    ]


def lines_of(selection: FileSelection, log: LocalLog, write) -> list[bytes]:
    """Return the lines of the files, sorted, with their paths as URLs."""
    snapshot = log.table.snapshot()
    columns = snapshot.metadata.partition_columns
    instants = instant_columns(snapshot.schema, columns)
    lines = []
    for _, batch in selection.part_batches(as_kept=not instants):
        answer = FileAnswer(
            urls=batch["relative_path"],
            expiration_ms=1,
            id_scheme="delta",
            instants=instants,
        )
        lines += write(batch, answer).splitlines()
    return sorted(lines)


def dated(kind: str, tmp_path: Path) -> LocalLog:
    """A table in partitions of a date or an instant, with a text that is escaped."""
    stats = stats_of(3, {"name": 'a"\\'}, {"name": "ä\u2028"})
    values = {"day": "2026-01-02 03:04:05" if kind == "timestamp" else "2026-01-02"}
    file = add("day=1/x.parquet", stats=stats, partitionValues=values)
    return LocalLog(tmp_path).start(
        file,
        schemaString=typed_schema(day=kind, name="string"),
        partitionColumns=["day"],
    )


@pytest.mark.parametrize("write", [parquet.file_lines, delta.file_lines])
@pytest.mark.parametrize("kind", ["date", "timestamp"])
def test_lines_are_alike_by_the_index_and_by_the_log(tmp_path, kind, write):
    log = dated(kind, tmp_path)

    indexed, replayed = selections(log, log.index())

    (_, batch) = next(indexed.part_batches(as_kept=kind == "date"))
    assert (UNCHANGING in batch.schema.names) == (kind == "date")
    assert lines_of(indexed, log, write) == lines_of(replayed, log, write)


@pytest.mark.parametrize("seed", range(3))
def test_a_table_that_grew_has_the_same_lines_and_statistics(tmp_path, seed):
    log = RandomLog(tmp_path, seed)
    log.grow(12)
    index = log.index()
    log.grow(3)

    indexed, replayed = selections(log, index)

    lines = [lines_of(one, log, parquet.file_lines) for one in (indexed, replayed)]
    assert lines[0] == lines[1]
    schema = log.table.snapshot().schema
    tables = [
        pa.Table.from_batches(batch for _, batch in one.typed_batches(schema)).sort_by(
            "path"
        )
        for one in (indexed, replayed)
    ]
    columns = ["path", "statistics", "num_records"]
    assert tables[0].select(columns) == tables[1].select(columns)
