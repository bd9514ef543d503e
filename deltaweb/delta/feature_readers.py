"""Which clients read tables with a feature that is not read here.

It says what the clients' own releases do with a table on storage, as far as that is
documented or was tried; a client that is not named may read the feature all the same.
What recipients of a share can read is another question: `deltaweb.sharing`.

Source: docs.delta.io, "What Delta Lake features require client upgrades?", and the
release notes of the clients.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from deltaweb.delta.table_features import (
    COLUMN_MAPPING,
    DELETION_VECTORS,
    V2_CHECKPOINT,
)

PYTHON: Final = "deltalake for Python"
KERNEL: Final = "DuckDB's delta extension"
CATALOG: Final = "clients that ask the table's catalog"

READERS: Final[Mapping[str, tuple[str, ...]]] = {
    "catalogManaged": (CATALOG,),
    COLUMN_MAPPING: ("Delta Lake 1.2 and later on Spark", PYTHON, KERNEL),
    DELETION_VECTORS: ("Delta Lake 2.3 and later on Spark", PYTHON, KERNEL),
    "timestampNtz": ("Delta Lake 2.4 and later on Spark", PYTHON, KERNEL),
    "typeWidening": ("Delta Lake 4.0 and later on Spark", KERNEL),
    "typeWidening-preview": ("Delta Lake 3.2 and later on Spark", KERNEL),
    V2_CHECKPOINT: ("Delta Lake 3.0 and later on Spark", PYTHON, KERNEL),
    "variantType": ("Delta Lake 4.0 and later on Spark", PYTHON, KERNEL),
    "variantType-preview": ("Delta Lake 4.0 and later on Spark", PYTHON, KERNEL),
}


@dataclass(frozen=True, slots=True)
class FeatureReaders:
    """A feature and the clients that are known to read it; none where nobody knows."""

    feature: str
    clients: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """Say who reads it: `Delta Lake 1.2 and later on Spark and DuckDB read it`."""
        if not self.clients:
            return "the engine that wrote it reads it, other clients may not"
        *most, last = self.clients
        return f"{', '.join(most)} and {last} read it" if most else f"{last} read it"


def feature_readers(features: Iterable[str]) -> list[FeatureReaders]:
    """Return who reads each of some features."""
    return [FeatureReaders(name, READERS.get(name, ())) for name in features]
