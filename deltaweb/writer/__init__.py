"""Data files in process: Arrow rows in, Parquet files with statistics out.

Read the modules in this order:

    rows/           rows of any source, held to a table's schema and rules, with
                    what the table adds to them: defaults, numbers, generated values
    files/          the files of one write: rows dealt out to partitions, split,
                    sized, counted, taken back; one file, and its statistics
    changes/        what a change of rows leaves: marks on files, and change data
    rewrite/        rows deleted and updated
    merge/          rows of a source merged into a table
    making/         tables made, of nothing or of files that are there
"""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.writer import append as append
    from deltaweb.writer import importing as importing
    from deltaweb.writer import making as making
    from deltaweb.writer import matching as matching
    from deltaweb.writer import merge as merge
    from deltaweb.writer import optimize as optimize
    from deltaweb.writer import overwrite as overwrite
    from deltaweb.writer import respelling as respelling
    from deltaweb.writer import rewrite as rewrite
    from deltaweb.writer import rows as rows
else:
    __getattr__ = modules_on_demand(__name__)
