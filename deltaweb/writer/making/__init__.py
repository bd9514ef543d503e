"""The creation of tables: empty, from rows, or from a folder of Parquet files."""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.writer.making import conversion as conversion
    from deltaweb.writer.making import new_table as new_table
else:
    __getattr__ = modules_on_demand(__name__)
