"""The tables that other providers share with us, read like any other table.

`client` speaks the sharing protocol, `transport` sends the requests, and `mirror` keeps
the answers as a log. A provider's answers are untrusted input, so they are bounded and
checked.

Source: delta_sharing_protocol_2026.md.
"""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.storage.received import budget as budget
    from deltaweb.storage.received import client as client
    from deltaweb.storage.received import profile as profile
    from deltaweb.storage.received import store as store
    from deltaweb.storage.received import transport as transport
else:
    __getattr__ = modules_on_demand(__name__)
