"""The Delta transaction log as plain Python values over Arrow.

Read `protocol`, `log` and `snapshot` first; `scan`, `changes` and `writing` build on
them. Nothing here opens a file: bytes come through `log.store.LogStore`.
"""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.delta import changes as changes
    from deltaweb.delta import features as features
    from deltaweb.delta import feed as feed
    from deltaweb.delta import protocol as protocol
    from deltaweb.delta import snapshot as snapshot
    from deltaweb.delta import values as values
    from deltaweb.delta import writing as writing
else:
    __getattr__ = modules_on_demand(__name__)
