"""Which versions lack data files: runs of equal counts, as an Arrow table.

What the log says of VACUUMs and what a listing of storage shows have the same form.
"""

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

MISSING_SCHEMA: Final = pa.schema(
    {
        "first_version": pa.int64(),
        "last_version": pa.int64(),
        "num_files": pa.int64(),  # of each of these versions
        "num_missing": pa.int64(),  # of these, never 0
        "vacuum_version": pa.int64(),  # the newest that deleted some; null without one
    }
)


def missing_runs(commits: pa.Table) -> pa.Table:
    """Join versions that lack as many of as many files.

    Args:
        commits: Ascending by version: `version`, `num_files`, `num_missing_files` (null
            where nothing is known) and `vacuumed_by`.

    Returns:
        Rows of `MISSING_SCHEMA`, ascending; no row for versions that lack nothing.
    """
    lacking = commits.filter(pc.greater(commits["num_missing_files"], 0))
    columns = ("version", "num_files", "num_missing_files", "vacuumed_by")
    versions, num_files, num_missing, vacuums = (
        pc.fill_null(lacking[name], -1).to_numpy() for name in columns
    )
    if not len(versions):
        return MISSING_SCHEMA.empty_table()
    begins = np.ones(len(versions), dtype=np.bool_)
    begins[1:] = np.diff(versions) != 1
    for values in (num_files, num_missing, vacuums):
        begins[1:] |= np.diff(values) != 0
    firsts = np.flatnonzero(begins)
    lasts = np.append(firsts[1:], len(versions)) - 1
    return pa.table(
        [
            versions[firsts],
            versions[lasts],
            num_files[firsts],
            num_missing[firsts],
            pa.array(vacuums[firsts], mask=vacuums[firsts] < 0),
        ],
        schema=MISSING_SCHEMA,
    )
