"""The Delta transaction log as plain Python values.

Read the packages in this order:

    errors          every fault, its stable code, its sentence and its hint
    protocol        what one line of the log says: actions, properties, schemas
    features        what a protocol asks of readers and writers, and what we answer
    values          partition values, statistics and values of data files
    log             the files of a log: `store` (declared here, fulfilled by
                    `deltaweb.storage`), `segment`, `commits`, `checkpoints`, `replay`
    snapshot        the table at one version
    scan            the rows of a version: predicates, skipping, data files
    changes         what differs between two versions
    writing         transactions, checkpoints of any size, log clean-up

Nothing here opens a file by itself: bytes arrive through `log.store.LogStore`. Terms
are those of the Delta protocol's specification, whose headings the docstrings cite.
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
