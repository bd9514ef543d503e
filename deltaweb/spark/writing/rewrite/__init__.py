"""Deletes and updates of rows as jobs of Spark, by the rules of those in process.

Read in this order:

    row_request   what is asked of the tasks, as it travels to them, and what a task
                  does with its share of the files, as in process
    judged_rows   the same where only Spark evaluates what is asked
    engine        the driver: files dealt out, and what became of them put together
    run           deletes and updates of a table

Every file is changed by one task as a whole, in the order of its rows, so that a row is
known by its place: vectors are those that a process writes. What the tasks have written
is named by the commit of the driver alone.
"""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.spark.writing.rewrite import run as run
else:
    __getattr__ = modules_on_demand(__name__)
