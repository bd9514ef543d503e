"""What takes a feature out of a table, so that clients read it that do not know it.

The reference implementation takes most of them out; the rest only a copy is without.

Source: docs.delta.io, "Drop Delta table features", "Remove column mapping"; each was
tried on recorded tables, as a test does again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from deltaweb.delta.features.column_mapping import COLUMN_MAPPING
from deltaweb.delta.features.deletion_vectors import DELETION_VECTORS
from deltaweb.delta.features.foreign_types import VARIANT
from deltaweb.delta.features.known.clients import SHREDDING, VACUUM_CHECK
from deltaweb.delta.features.known.described import PREVIEW
from deltaweb.delta.features.type_widening import TYPE_WIDENING
from deltaweb.delta.features.v2_checkpoints import V2_CHECKPOINT


@dataclass(frozen=True, slots=True)
class Remedy:
    """What is done about a feature.

    Attributes:
        is_dropped: Whether it can be taken out; else a copy alone is without.
        before: Properties that are set first, where it is taken out.
        switch: The property that lets nothing new have it, and its value.
    """

    cost: str
    is_dropped: bool = True
    before: tuple[tuple[str, str], ...] = ()
    switch: tuple[str, str] | None = None

    def statements(self, feature: str, table: str) -> list[str]:
        if not self.is_dropped:
            return []
        set_first = [
            f"ALTER TABLE {table} SET TBLPROPERTIES ('{name}' = '{value}')"
            for name, value in self.before
        ]
        return [*set_first, f"ALTER TABLE {table} DROP FEATURE `{feature}`"]


NOT_KNOWN: Final = Remedy("It cannot be removed; make a copy without it.", False)  # noqa: FBT003 (its second field)
_WIDENING: Final = Remedy(
    "Spark rewrites the files that have the narrower type.",
    switch=("delta.enableTypeWidening", "false"),
)
_VARIANT: Final = Remedy(
    "It cannot be removed; make a copy with the values as JSON text.",
    is_dropped=False,
)
_REMEDIES: Final[Mapping[str, Remedy]] = {
    COLUMN_MAPPING: Remedy(
        "Spark rewrites all files with the names of the columns. After that, "
        "renaming or "
        "dropping a column means rewriting files.",
        before=(("delta.columnMapping.mode", "none"),),
    ),
    DELETION_VECTORS: Remedy(
        "Spark rewrites the files with deletion vectors, without the deleted rows.",
        switch=("delta.enableDeletionVectors", "false"),
    ),
    TYPE_WIDENING: _WIDENING,
    V2_CHECKPOINT: Remedy(
        "Spark writes a classic checkpoint; no data file changes.",
        switch=("delta.checkpointPolicy", "classic"),
    ),
    VACUUM_CHECK: Remedy("Only the protocol changes; no file does."),
    VARIANT: _VARIANT,
    SHREDDING: Remedy(
        _VARIANT.cost,
        is_dropped=False,
        switch=("delta.enableVariantShredding", "false"),
    ),
}


def remedy(feature: str) -> Remedy:
    """Return what is done about a feature; a preview is taken out as it is itself."""
    return _REMEDIES.get(feature.removesuffix(PREVIEW), NOT_KNOWN)
