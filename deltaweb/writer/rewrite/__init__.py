"""The deletes and updates of rows in process, which rewrite or mark files."""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.writer.rewrite import row_changes as row_changes
    from deltaweb.writer.rewrite import run as run
else:
    __getattr__ = modules_on_demand(__name__)
