"""The actions, properties and schemas of a log, as frozen values."""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.delta.protocol import actions as actions
    from deltaweb.delta.protocol import column_path as column_path
    from deltaweb.delta.protocol import schema as schema
    from deltaweb.delta.protocol import schema_ddl as schema_ddl
else:
    __getattr__ = modules_on_demand(__name__)
