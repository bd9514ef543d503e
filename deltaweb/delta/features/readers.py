"""Which clients read tables with a feature that is not read here.

Source: docs.delta.io, "What Delta Lake features require client upgrades?", and the
release notes of the clients.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from deltaweb.delta.features.known.readings import in_words
from deltaweb.delta.features.registry import find_feature


@dataclass(frozen=True, slots=True)
class FeatureReaders:
    """A feature and the clients that are known to read it; none where none is known."""

    feature: str
    clients: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """Say who reads it: `Delta Lake 1.2 and later on Spark and DuckDB read it`."""
        if not self.clients:
            return "the engine that wrote it reads it, other clients may not"
        return f"{in_words(self.clients)} read it"


def feature_readers(features: Iterable[str]) -> list[FeatureReaders]:
    """Return who reads each of some features."""
    return [FeatureReaders(name, find_feature(name).readers) for name in features]
