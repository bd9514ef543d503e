"""Tables that somebody else shares with us, read as any other table.

    profile     a profile file: where the provider's server is, and our token
    budget      what one look at a provider may take
    access      access tokens of profiles with an OAuth client
    transport   one request: the host is checked, the answer bounded in size and time
    patience    when a request is sent again, and where a redirect leads
    connection  checked addresses, proxies, and the deadline of a request
    compression answers that are compressed without being asked to be
    client      what the protocol asks: shares, tables, versions, files, changes
    actions     the lines of an answer as actions of a log
    numbers     numbers of answers, which may be texts
    columns     the files of an answer, and their URLs, as columns
    mirror      a log of what the provider told, kept in a folder of ours
    store       the files of such a table, as readers of tables want them
    files       one data file behind a URL that ends

Everything that a provider says is input of a stranger: it is bounded, and never a path,
a header or an address that is used unchecked.

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
