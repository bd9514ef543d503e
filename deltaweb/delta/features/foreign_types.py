"""Types of columns with a feature of their own: times without a zone, and variants.

Source: delta_protocol.md, "Timestamp without timezone" and "Variant Data Type".
"""

from typing import Final

from deltaweb.delta.features.feature import Feature
from deltaweb.delta.protocol.actions import Metadata

TIMESTAMP_NTZ: Final = "timestampNtz"
VARIANT: Final = "variantType"


def _has_variants(metadata: Metadata) -> bool:
    """Return whether a column may be of the type; values of it are not written."""
    return '"variant"' in (metadata.schema_string or "")


FEATURES: Final = (
    Feature(TIMESTAMP_NTZ, is_written=True),
    *(
        Feature(f"{name}{preview}", asks_writers=_has_variants)
        for name in (VARIANT, "variantShredding")
        for preview in ("", "-preview")
    ),
)
