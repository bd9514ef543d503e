"""The operations that write no rows, such as restore, vacuum and property changes."""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.delta.writing.operations import definition as definition
    from deltaweb.delta.writing.operations import definition_plan as definition_plan
    from deltaweb.delta.writing.operations import protocol_change as protocol_change
    from deltaweb.delta.writing.operations import renamed_columns as renamed_columns
    from deltaweb.delta.writing.operations import restore as restore
    from deltaweb.delta.writing.operations import undo as undo
    from deltaweb.delta.writing.operations import vacuum as vacuum
    from deltaweb.delta.writing.operations import widened_columns as widened_columns
else:
    __getattr__ = modules_on_demand(__name__)
