"""The indexes of tables: their folders, their jobs and their database rows."""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from apps.tables.index import jobs as jobs
    from apps.tables.index import results as results
    from apps.tables.index import spark_session as spark_session
else:
    __getattr__ = modules_on_demand(__name__)
