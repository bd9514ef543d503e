"""Merges as jobs of Spark, by the rules of those in process.

Read in this order:

    merge_request  what is asked of the tasks, as it travels to them
    joined_rows    which rows match, found by a join of Spark
    merge_tasks    files changed and new rows written by tasks, as in process
    engine         the driver: what is joined, and what became of the files
    run            merges into a table

The join says for each row that changes where it is, which clause counts and what the
source has for it. A file is then changed by one task as a whole, by the code that
changes files in process.
"""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.spark.writing.merge import run as run
else:
    __getattr__ = modules_on_demand(__name__)
