"""Where the bytes of tables are: one store a kind of storage.

    location    from a path or URL to a store: `open_store`
    local       a folder of this machine
    remote      everything that fsspec reaches, by what is in `objects`
    data_path   paths of the log, decoded once and kept inside the table

A store that finds one file missing raises `FileNotFoundError`; every other fault is a
`DeltaError` with its own sentence, and never carries a credential.
"""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.storage import local as local
    from deltaweb.storage import remote as remote
else:
    __getattr__ = modules_on_demand(__name__)
