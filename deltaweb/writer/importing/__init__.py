"""Rows of CSV, JSON and Parquet files on their way into a table, each held to its type.

options      how a file is to be read, and what its columns become
source_file  where a file is, and how its bytes are reached
text_values  texts as values of a type, and which of them are none
csv_rows  json_rows  parquet_rows    files as batches with the lines of their rows
json_values  values of JSON as files write them, and what is wrong with others
proposal     which columns files seem to have
narrower     what most values of a column are that is text by the others
checked_rows rows that fit, and what is wrong with the others
plan         what an import would do, and then does
"""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.writer.importing import plan as plan
    from deltaweb.writer.importing import source_file as source_file
else:
    __getattr__ = modules_on_demand(__name__)
