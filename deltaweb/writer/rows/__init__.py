"""The rows of a write, converted to the table schema and checked by its rules."""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.writer.rows import row_checks as row_checks
else:
    __getattr__ = modules_on_demand(__name__)
