"""The indexes of tables: folders, the jobs that build them, rows in the database."""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from apps.tables.index import jobs as jobs
    from apps.tables.index import results as results
    from apps.tables.index import spark_session as spark_session
else:
    __getattr__ = modules_on_demand(__name__)
