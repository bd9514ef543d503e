"""What changed in properties, protocol and the rest of a table's metadata."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from deltaweb.delta.protocol.actions import Metadata, Protocol

VERSIONS = ("min_reader_version", "min_writer_version")
FEATURES = ("reader_features", "writer_features")


@dataclass(frozen=True)
class ValueChange:
    """A named value that is not as it was."""

    name: str
    before: Any
    after: Any


@dataclass(frozen=True)
class ValueChanges:
    """What a set of named values gained, lost and changed; each sorted by name."""

    added: tuple[ValueChange, ...] = ()
    removed: tuple[ValueChange, ...] = ()
    changed: tuple[ValueChange, ...] = ()

    @property
    def count(self) -> int:
        return len(self.added) + len(self.removed) + len(self.changed)


def diff_values(before: Mapping[str, Any], after: Mapping[str, Any]) -> ValueChanges:
    """Compare two mappings by name."""
    added = sorted(after.keys() - before.keys())
    removed = sorted(before.keys() - after.keys())
    both = sorted(before.keys() & after.keys())
    return ValueChanges(
        added=tuple(ValueChange(name, None, after[name]) for name in added),
        removed=tuple(ValueChange(name, before[name], None) for name in removed),
        changed=tuple(
            ValueChange(name, before[name], after[name])
            for name in both
            if before[name] != after[name]
        ),
    )


def diff_properties(before: Metadata, after: Metadata) -> ValueChanges:
    """Compare the table properties: the `configuration` of the metaData."""
    return diff_values(before.configuration, after.configuration)


def diff_protocol(before: Protocol, after: Protocol) -> ValueChanges:
    """Compare the protocols: versions change, table features come and go.

    A feature's value says who must know it, as in `reader_features`.
    """
    versions = diff_values(
        {name: getattr(before, name) for name in VERSIONS},
        {name: getattr(after, name) for name in VERSIONS},
    )
    features = diff_values(_features(before), _features(after))
    return ValueChanges(
        added=features.added,
        removed=features.removed,
        changed=(*versions.changed, *features.changed),
    )


def diff_details(before: Metadata, after: Metadata) -> ValueChanges:
    """Compare what else the metaData says: id, name, description and format."""
    return diff_values(_details(before), _details(after))


def _features(protocol: Protocol) -> dict[str, tuple[str, ...]]:
    """Return who must know each feature."""
    return {
        name: tuple(kind for kind in FEATURES if name in _listed(protocol, kind))
        for kind in FEATURES
        for name in _listed(protocol, kind)
    }


def _listed(protocol: Protocol, kind: str) -> Iterable[str]:
    return getattr(protocol, kind) or ()


def _details(metadata: Metadata) -> dict[str, str]:
    values = {
        "id": metadata.id,
        "name": metadata.name,
        "description": metadata.description,
        "format": metadata.format.provider,
    }
    return {name: value for name, value in values.items() if value is not None}
