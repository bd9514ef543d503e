"""The stores of tables: local folders, and object stores through fsspec.

`location.open_store` opens the store of a path or URL. A missing file is a
`FileNotFoundError`, and every other fault a `DeltaError` without credentials.
"""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.storage import local as local
    from deltaweb.storage import remote as remote
else:
    __getattr__ = modules_on_demand(__name__)
