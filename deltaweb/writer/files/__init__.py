"""Rows dealt out to their partitions, and one data file while it is written."""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.writer.files import respelling as respelling
else:
    __getattr__ = modules_on_demand(__name__)
