"""The signed URLs of files: one module for each kind of store."""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.storage.signing import s3_session as s3_session
else:
    __getattr__ = modules_on_demand(__name__)
