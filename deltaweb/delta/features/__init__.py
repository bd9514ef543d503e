"""What a protocol asks of readers and writers, and what deltaweb answers."""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.delta.features import column_mapping as column_mapping
else:
    __getattr__ = modules_on_demand(__name__)
