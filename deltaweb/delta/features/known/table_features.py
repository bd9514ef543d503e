"""The features of a table: what each is, whether it is used, what is done with it here.

Pages, the pre-flight of a share and commands speak from this.
"""

from dataclasses import dataclass

from deltaweb.delta.features.feature import LogWriting
from deltaweb.delta.features.known.described import describe_feature
from deltaweb.delta.features.known.usage import Usage, VersionFacts, usage
from deltaweb.delta.features.registry import (
    find_feature,
    refused_features,
    required_features,
    writer_features,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFeature:
    """A feature that the protocol of a table has.

    Attributes:
        for_readers: Whether a reader must know it, not writers alone.
        is_read: Whether rows of the table are read here with it.
        is_written: Whether rows are written here to this table, as far as it goes.
        is_kept: Whether checkpoints are written here of tables that have it.
    """

    name: str
    title: str
    meaning: str
    usage: Usage
    for_readers: bool
    is_read: bool
    is_written: bool
    is_kept: bool

    @property
    def is_idle(self) -> bool:
        """Whether the protocol allows it and nothing uses it."""
        return self.usage is Usage.IDLE

    def describe(self) -> dict[str, object]:
        """Return it as JSON forms show it."""
        return {
            "feature": self.name,
            "title": self.title,
            "meaning": self.meaning,
            "usage": self.usage.value,
            "for": "readers and writers" if self.for_readers else "writers",
            "deltaweb": {
                "reads": self.is_read,
                "writes": self.is_written,
                "checkpoints": self.is_kept,
            },
        }


def table_features(facts: VersionFacts) -> list[TableFeature]:
    """Return the features of a version, what readers must know first."""
    readers = required_features(facts.protocol)
    refused = set(refused_features(facts.protocol, facts.metadata))
    names = dict.fromkeys((*readers, *writer_features(facts.protocol)))
    return [
        _table_feature(name, facts, for_readers=name in readers, refused=refused)
        for name in names
    ]


def _table_feature(
    name: str, facts: VersionFacts, *, for_readers: bool, refused: set[str]
) -> TableFeature:
    feature, description = find_feature(name), describe_feature(name)
    return TableFeature(
        name=name,
        title=description.title,
        meaning=description.meaning,
        usage=usage(name, facts),
        for_readers=for_readers,
        is_read=name not in refused,
        is_written=not feature.refuses_rows(facts.metadata),
        is_kept=feature.log_writing is not LogWriting.REFUSED,
    )
