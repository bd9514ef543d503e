"""What features and applications keep in the log beside a table's properties, in words.

Source: delta_protocol.md, "Domain Metadata", "Clustered Table", "Row Tracking".
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from deltaweb.delta.features.clustering import CLUSTERING_COLUMNS, CLUSTERING_DOMAIN
from deltaweb.web.explorer.history.parameters import Parameter, decoded, parameter_of

ROW_TRACKING: Final = "delta.rowTracking"
HIGH_WATER_MARK: Final = "rowIdHighWaterMark"
OWN_NAME: Final = "domainName"  # which Delta's own domains repeat within


def shown_domains(
    domains: Mapping[str, str], clustering_columns: Sequence[str]
) -> list[Parameter]:
    """Return the domains that say something, each named as the log names it.

    Args:
        domains: The configuration of each, as text.
        clustering_columns: The names of the columns that a table is clustered by.
    """
    return list(_shown(domains, clustering_columns))


def _shown(
    domains: Mapping[str, str], clustering_columns: Sequence[str]
) -> Iterator[Parameter]:
    for name, configuration in domains.items():
        found = decoded(configuration)
        if not isinstance(found, Mapping):
            yield parameter_of(name, found)
            continue
        told = {key: value for key, value in found.items() if key != OWN_NAME}
        if name == CLUSTERING_DOMAIN and not told.get(CLUSTERING_COLUMNS):
            continue  # the clustering has ended
        if name == CLUSTERING_DOMAIN and clustering_columns:
            columns = ", ".join(clustering_columns)
            yield Parameter(name=name, label="", text=f"clustered by {columns}")
        elif name == ROW_TRACKING and isinstance(told.get(HIGH_WATER_MARK), int):
            yield Parameter(name=name, label="", text=_row_ids(told[HIGH_WATER_MARK]))
        else:
            yield parameter_of(name, told)


def _row_ids(highest: int) -> str:
    if highest < 0:
        return "no row has an id yet"
    return f"ids of rows are given up to {highest:,}"
