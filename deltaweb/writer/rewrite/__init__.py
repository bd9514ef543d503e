"""Rows are changed or removed: files that hold some are written again without them."""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.writer.rewrite import row_changes as row_changes
    from deltaweb.writer.rewrite import run as run
else:
    __getattr__ = modules_on_demand(__name__)
