"""The rows of a version: predicates, file skipping, and reading data files."""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.delta.scan import rows as rows
    from deltaweb.delta.scan import variant_parts as variant_parts
else:
    __getattr__ = modules_on_demand(__name__)
