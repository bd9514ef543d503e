"""DataFrames written to tables and read from them, as jobs of any size.

Read in this order:

    spark_types   the columns of a table as Spark has them
    write_plan    what a write is to be: found out once, in the driver
    file_tasks    rows of a task to data files, by the code that writes in process
    part_commit   the files of all tasks as one transaction
    session       what the session evaluates, by its settings
    frame_write   `write_table`
    file_rows     rows of data files as tasks read them
    frame_read    `read_table`
    change_tasks  what tasks that change rows are asked, and how they answer
    rewrite       `delete_rows`, `update_rows`
    merge         `merge_rows`
    source        the same as a data source of Spark, batch and streaming

Tasks hand over files with their statistics, never rows. Spark takes the answer of one
attempt of a task; what others wrote no commit ever names.
"""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.spark.writing import excerpts as excerpts
    from deltaweb.spark.writing import merge as merge
    from deltaweb.spark.writing import rewrite as rewrite
    from deltaweb.spark.writing import source as source
    from deltaweb.spark.writing import spark_types as spark_types
    from deltaweb.spark.writing import write_plan as write_plan
else:
    __getattr__ = modules_on_demand(__name__)
