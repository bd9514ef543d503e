"""What a commit changed of the metadata and the protocol, in lines to read."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from apps.explorer.columns.tree import SchemaColumn, schema_tree, version_tree
from apps.tables.models import MetadataVersion, ProtocolVersion
from deltaweb.words import cut

MAX_TEXT_LENGTH: Final = 2_000  # characters of a change; the log has all of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One thing that is not as it was; None where it was not, or is no more."""

    subject: str  # "column", "property", "description", ...
    name: str
    before: str | None
    after: str | None

    @property
    def kind(self) -> str:
        """Added, removed or changed."""
        if self.before is None:
            return "added"
        return "removed" if self.after is None else "changed"

    def describe(self) -> dict[str, object]:
        """Return the change as the JSON form shows it."""
        return {
            "subject": self.subject,
            "name": self.name,
            "kind": self.kind,
            "before": _cut(self.before),
            "after": _cut(self.after),
        }


def _cut(text: str | None) -> str | None:
    """Return a text as the JSON form shows it: a long one is cut."""
    return None if text is None else cut(text, MAX_TEXT_LENGTH)


def metadata_changes(
    before: MetadataVersion | None, after: MetadataVersion
) -> list[Change]:
    """Return what differs between two metadata; all is new after None."""
    changes = list(_column_changes(before, after))
    changes += _entries(
        "property",
        _texts(before.configuration if before else {}),
        _texts(after.configuration),
    )
    changes += _entries("table", _facts(before), _facts(after))
    return changes


def protocol_changes(
    before: ProtocolVersion | None, after: ProtocolVersion
) -> list[Change]:
    """Return what differs between two protocols; all is new after None."""
    changes = list(_entries("protocol", _versions(before), _versions(after)))
    changes += _entries("feature", _features(before), _features(after))
    return changes


def _entries(
    subject: str, before: Mapping[str, str], after: Mapping[str, str]
) -> Iterator[Change]:
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name), after.get(name)
        if old != new:
            yield Change(subject=subject, name=name, before=old, after=new)


def _column_changes(
    before: MetadataVersion | None, after: MetadataVersion
) -> Iterator[Change]:
    """Yield the columns that differ; one change in all where there are too many."""
    wide = [row is not None and row.wide_schema_digest for row in (before, after)]
    if not any(wide):
        yield from _entries("column", _columns(before), _columns(after))
    elif before is None or wide[0] != wide[1]:
        widths = [
            f"{version_tree(row).num_columns:,} columns" if row else None
            for row in (before, after)
        ]
        yield Change(subject="schema", name="all", before=widths[0], after=widths[1])


def _columns(metadata: MetadataVersion | None) -> dict[str, str]:
    if metadata is None:
        return {}
    tree = schema_tree(metadata.schema_string, metadata.partition_columns)
    return {column.path: _column_text(column) for column in tree.columns}


def _column_text(column: SchemaColumn) -> str:
    parts = [column.kind]
    if not column.nullable:
        parts.append("not null")
    parts += [f"{label} {value}" for label, value in column.facts]
    if column.comment:
        parts.append(f"comment {json.dumps(column.comment, ensure_ascii=False)}")
    return ", ".join(parts)


def _texts(values: Mapping[str, object]) -> dict[str, str]:
    return {
        key: value if isinstance(value, str) else json.dumps(value)
        for key, value in sorted(values.items())
    }


def _facts(metadata: MetadataVersion | None) -> dict[str, str]:
    if metadata is None:
        return {}
    facts = {
        "name": metadata.metadata_name,
        "description": metadata.description,
        "partition columns": ", ".join(map(str, metadata.partition_columns)),
        "id": metadata.metadata_id,
    }
    return {name: value for name, value in facts.items() if value}


def _versions(protocol: ProtocolVersion | None) -> dict[str, str]:
    if protocol is None:
        return {}
    return {
        "minimum reader version": str(protocol.min_reader_version),
        "minimum writer version": str(protocol.min_writer_version),
    }


def _features(protocol: ProtocolVersion | None) -> dict[str, str]:
    if protocol is None:
        return {}
    readers, writers = protocol.reader_features or [], protocol.writer_features or []
    features = {str(name): "to write" for name in writers}
    return features | {str(name): "to read and write" for name in readers}
