"""Tables whose files, or newest commits, are listed elsewhere than in the log.

Source: delta_protocol.md, "Catalog-managed tables"; the RFC icebergNativeV4 of
delta-io/delta.
"""

from typing import Final

from deltaweb.delta.features.feature import refused

CATALOG_MANAGED: Final = "catalogManaged"
WITHOUT_FILES: Final = ("icebergNativeV4", "icebergNativeV4-preview")
"""Features of writers in name: files are listed in Iceberg's manifests, not in the log.

Read without them a table would have no files at all.
"""

FEATURES: Final = tuple(map(refused, (CATALOG_MANAGED, *WITHOUT_FILES)))
