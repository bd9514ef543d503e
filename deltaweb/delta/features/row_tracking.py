"""Row tracking: rows keep an id over rewrites, by fields of add and remove.

Source: delta_protocol.md, "Row Tracking".
"""

from typing import Final

from deltaweb.delta.features.feature import Feature, LogWriting

FEATURE: Final = Feature("rowTracking", log_writing=LogWriting.CARRIED)
