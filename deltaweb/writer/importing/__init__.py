"""The import of CSV, JSON and Parquet files, with the type of each value checked."""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.writer.importing import plan as plan
    from deltaweb.writer.importing import source_file as source_file
else:
    __getattr__ = modules_on_demand(__name__)
