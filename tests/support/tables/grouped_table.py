"""A table whose data files have many row groups."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.delta.log.paths import commit_name
from deltaweb.table import DeltaTable
from tests.support.logs.delta_logs import add, commit_bytes
from tests.support.logs.local_logs import stats_of
from tests.support.tables.table_builder import TableBuilder

GROUP_ROWS = 10
FILE_ROWS = 50


def grouped_table(folder: Path) -> DeltaTable:
    """Make a table of the ids 0 to 149: three files of five row groups.

    Versions 1 to 3 add a file each. Rows are deleted by deletion vectors.
    """
    builder = TableBuilder().at(folder).columns(id="long", name="string")
    table = builder.property("delta.enableDeletionVectors").build()
    for number in range(3):
        first = number * FILE_ROWS
        ids = range(first, first + FILE_ROWS)
        rows = pa.table({"id": ids, "name": [f"n{one:03}" for one in ids]})
        path = folder / f"part-{number}.parquet"
        pq.write_table(rows, path, row_group_size=GROUP_ROWS)
        bounds = ({"id": ids[0]}, {"id": ids[-1]})
        action = add(
            path.name, size=path.stat().st_size, stats=stats_of(FILE_ROWS, *bounds)
        )
        name = commit_name(number + 1)
        (folder / "_delta_log" / name).write_bytes(commit_bytes(action))
    return table
