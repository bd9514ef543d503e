"""The table features: what each requires of readers and writers, and our support."""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.delta.features import column_mapping as column_mapping
else:
    __getattr__ = modules_on_demand(__name__)
