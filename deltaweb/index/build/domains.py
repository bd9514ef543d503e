"""What a table's metadata by domain says, above all by which columns it is clustered.

A snapshot does without domains, so they are read once an index, of tables that may
have some.

Source: delta_protocol_2026.md, "Domain Metadata" and "Clustered Table".
"""

from itertools import islice
from typing import Any, Final

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.features.clustering import clustering_columns
from deltaweb.delta.log.store import LogStore
from deltaweb.delta.row_tracking.logged_fields import load_domains
from deltaweb.delta.snapshot import Snapshot
from deltaweb.index.history.stored_values import bounded_names

FEATURE: Final = "domainMetadata"
MAX_DOMAINS: Final = 20
MAX_LENGTH: Final = 500


def domains_summary(store: LogStore, snapshot: Snapshot) -> dict[str, Any]:
    """Return what `Table.summary` holds of a version's domains.

    Args:
        store: The table's log.
        snapshot: The version.

    Returns:
        `clustering`, the dotted names of the clustering columns, and `domains`, the
        beginning of the configuration of each domain by its name; both empty where
        there are none or the log does not read.
    """
    try:
        domains = _domains(store, snapshot)
        clustered, _ = (
            clustering_columns(domains, snapshot.schema) if domains else ([], [])
        )
    except DeltaError:  # an index without them is better than none
        domains, clustered = {}, []
    first = islice(sorted(domains.items()), MAX_DOMAINS)
    return {
        "clustering": bounded_names(".".join(path) for path in clustered),
        "domains": {name[:MAX_LENGTH]: said[:MAX_LENGTH] for name, said in first},
    }


def _domains(store: LogStore, snapshot: Snapshot) -> dict[str, str]:
    if FEATURE not in (snapshot.protocol.writer_features or ()):
        return {}
    return load_domains(store, snapshot.version)
