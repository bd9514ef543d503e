"""Rehearsals: the clients that recipients use read all that one of them may read.

client_program  one client, in a process of its own
rehearsal       all clients and all tables, by a token of minutes
certificates    what came of the last one, and since when a client is broken
nightly         the job, by button and by the clock
"""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from apps.sharing.recipients.rehearsals import nightly as nightly
else:
    __getattr__ = modules_on_demand(__name__)
