"""The rule that holds for one recipient of a shared table, bound to one version."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Protocol as Structure
from uuid import UUID

from apps.sharing.models import Recipient, RecipientRule, SharedTable
from deltaweb.conditions.recipients import (
    NAME,
    Property,
    asked_properties,
    bound_to,
    is_never_true,
)
from deltaweb.conditions.sql_text import SQLText, parse_sql
from deltaweb.delta.errors import PredicateError, SchemaError
from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.delta.protocol.schema import StructType, type_text
from deltaweb.expressions.condition import SQLCondition
from deltaweb.index.query.classification import FileRule
from deltaweb.index.query.shared_version import SharedVersion
from deltaweb.sharing.compatibility import fields_of
from deltaweb.sharing.narrowed import narrowed
from deltaweb.sharing.plain import (
    has_dropped,
    may_need_copies,
    plain_form,
    plain_schema,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRule:
    """A rule as machine forms name it.

    Attributes:
        conditions: The conditions of the share and of the recipient. A row must meet
            all of them.
        columns: The names of the columns that the recipient can see; null for all.
        properties: The properties that the conditions use; null for one that the
            recipient does not have.
    """

    conditions: list[str]
    columns: list[str] | None
    properties: dict[str, Property | None]


@dataclass(frozen=True)
class TableRule:
    """What of a shared table somebody sees, whatever the version.

    Attributes:
        conditions: In SQL; a row is seen for which all are true.
        columns: Names of the columns that are seen; None for all.
        properties: Values of the recipient, by names in lower case.
        is_plain: Whether files are served in their plain form.
    """

    conditions: tuple[str, ...]
    columns: frozenset[str] | None
    properties: Mapping[str, Property]
    is_plain: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether every row and column is seen."""
        return not self.conditions and self.columns is None

    @property
    def is_stored(self) -> bool:
        """Whether each file is served as it is stored."""
        return self.is_whole and not self.is_plain

    @cached_property
    def asked(self) -> dict[str, Property | None]:
        """The values of the recipient that the conditions ask for, by name."""
        names: set[str] = set()
        for condition in self.conditions:
            names |= _asked_names(condition)
        return {name: self.properties.get(name) for name in sorted(names)}

    @property
    def missing(self) -> list[str]:
        """The properties that the conditions ask for and the recipient lacks."""
        return [name for name, value in self.asked.items() if value is None]

    @property
    def shown(self) -> ShownRule:
        """The rule as machine forms name it.

        It asks for nothing if a condition does not parse: answers say that.
        """
        try:
            asked = self.asked
        except PredicateError:
            asked = {}
        columns = None if self.columns is None else sorted(self.columns)
        conditions = list(self.conditions)
        return ShownRule(conditions=conditions, columns=columns, properties=asked)

    @cached_property
    def digest(self) -> str:
        """What names the rule: equal for recipients whose values are equal."""
        columns = None if self.columns is None else sorted(self.columns)
        text = json.dumps([self.conditions, columns, self.asked])
        form = " plain" if self.is_plain else ""
        return hashlib.sha256(f"{text}{form}".encode()).hexdigest()

    def condition(self, schema: StructType) -> SQLCondition:
        """Return the conditions as one over rows of a schema; there is one at least."""
        return SQLCondition(self._bound(schema), schema)

    def shows_nothing(self, schema: StructType) -> bool:
        """Whether no row of a schema can be seen, whatever its values are."""
        return bool(self.conditions) and is_never_true(self._bound(schema))

    def _bound(self, schema: StructType) -> SQLText:
        text = " AND ".join(f"({one}\n)" for one in self.conditions)
        return bound_to(parse_sql(text), self.properties, schema)

    def leaves_whole_files(self, version: "HasMetadata") -> bool:
        """Return whether each file is handed out as it is, or not at all."""
        protocol, metadata = version.protocol, version.metadata
        if self.is_plain and may_need_copies(protocol, metadata, version.schema):
            return False
        if self.columns is not None:
            return False
        if not self.conditions:
            return True
        names = self.condition(version.schema).names
        return names <= set(metadata.partition_columns)

    def _nested_shape(self, version: SharedVersion, visible: StructType) -> str:
        """Return a text of what fields of columns are stored as, where that matters.

        A field that is dropped and added again has the name and the type of the old
        one. Without a dropped field, copies of earlier releases keep their keys.
        """
        if not self.is_plain and not has_dropped(version.protocol, version.metadata):
            return ""
        parts = [[name, f.stored_name, f.field_id] for name, f in fields_of(visible)]
        return json.dumps(parts)

    def visible(self, schema: StructType) -> StructType:
        """Return what of a schema is seen."""
        if self.columns is None:
            return schema
        return StructType(tuple(f for f in schema.fields if f.name in self.columns))

    def bind(self, version: SharedVersion) -> "BoundRule":
        """Return the rule for the schema of a version."""
        schema = version.schema
        visible = self.visible(schema)
        partitions = version.metadata.partition_columns
        if all(column.name in partitions for column in visible.fields):
            raise SchemaError(column="", reason="it shares no column of the data files")
        condition = self.condition(schema) if self.conditions else None
        # A file may hold columns that no schema has any more: of a list of columns
        # none is proved to hold those alone.
        files = FileRule(
            condition=condition,
            hides_columns=self.columns is not None,
            shows_nothing=condition is not None and self.shows_nothing(schema),
        )
        bound = BoundRule(
            files=files,
            schema=visible,
            protocol=version.protocol,
            metadata=narrowed(version.metadata, schema, visible.names),
            shape=f"{_shape(schema, visible)}{self._nested_shape(version, visible)}",
        )
        return _in_plain_form(bound) if self.is_plain else bound


@dataclass(frozen=True, slots=True)
class BoundRule:
    """A rule for one version.

    Attributes:
        schema: The logical schema of what is seen, as files that are offered have it.
        protocol: The protocol that recipients get.
        metadata: The metaData that recipients get.
        shape: What distinguishes rewritten files of this schema from those of another.
    """

    files: FileRule
    schema: StructType
    protocol: Protocol
    metadata: Metadata
    shape: str

    def partition_names(self, stored: StructType) -> dict[str, str]:
        """Return what partition columns that are seen are called, by their old names.

        Args:
            stored: The schema of the files that are rewritten.
        """
        return renamed(stored, self.schema, self.metadata.partition_columns)


def renamed(
    stored: StructType, offered: StructType, columns: Iterable[str]
) -> dict[str, str]:
    """Return what columns are called where they are offered, by their stored names."""
    pairs = [(stored.find(name), offered.find(name)) for name in columns]
    return {old.stored_name: new.stored_name for old, new in pairs if old and new}


def _in_plain_form(bound: BoundRule) -> BoundRule:
    """Return a rule that leaves plain files alone."""
    form = plain_form(bound.protocol, bound.metadata, bound.schema)
    files = replace(
        bound.files,
        copies_vectors=True,
        copies_all=form.copies_all,
        checked_where=form.checked_where,
    )
    return replace(
        bound,
        files=files,
        schema=plain_schema(bound.schema),
        protocol=form.protocol,
        metadata=form.metadata,
    )


def rule_for(shared: SharedTable, recipient: Recipient) -> TableRule:
    """Return the rule of a shared table for one recipient.

    A rule of its own can only take away what the table's rule leaves.
    """
    own = RecipientRule.objects.filter(shared_table=shared, recipient=recipient).first()
    held: list[HasRule] = [shared, own] if own else [shared]
    return rule_of(held, recipient, is_plain=shared.is_plain)


def rules_by_table(
    tables: Iterable[SharedTable], recipients: Iterable[Recipient]
) -> dict[UUID, list[tuple[TableRule, list[str]]]]:
    """Return the rules of shared tables, each with its recipients by name.

    Recipients whose rules are equal share one. A table that is served as it is stored
    has none.

    Raises:
        PredicateError: If a condition cannot be read.
    """
    recipients = list(recipients)
    held = RecipientRule.objects.filter(
        shared_table__in=(tables := list(tables)), recipient__in=recipients
    )
    own = {(one.shared_table_id, one.recipient_id): one for one in held}
    found: dict[UUID, list[tuple[TableRule, list[str]]]] = {}
    for table in tables:
        by_digest: dict[str, tuple[TableRule, list[str]]] = {}
        for recipient in recipients:
            narrower = own.get((table.id, recipient.id))
            of_both: list[HasRule] = [table, narrower] if narrower else [table]
            rule = rule_of(of_both, recipient, is_plain=table.is_plain)
            if not rule.is_stored:
                _, names = by_digest.setdefault(rule.digest, (rule, []))
                names.append(recipient.name)
        found[table.id] = [*by_digest.values()]
    return found


class HasRule(Structure):
    """What a rule is made of: a shared table, what one recipient sees of it, a draft.

    Attributes:
        condition: In SQL; "" for every row.
        columns: Names of columns; empty for all.
    """

    @property
    def condition(self) -> str: ...
    @property
    def columns(self) -> Sequence[str]: ...


class HasMetadata(Structure):
    """A version of a table, with or without its files."""

    @property
    def protocol(self) -> Protocol: ...
    @property
    def metadata(self) -> Metadata: ...
    @property
    def schema(self) -> StructType: ...


def rule_of(
    held: Sequence[HasRule], recipient: Recipient, *, is_plain: bool = False
) -> TableRule:
    """Return the rule for one recipient where all of some hold.

    Args:
        is_plain: Whether the table is offered plain to every recipient.
    """
    columns: frozenset[str] | None = None
    for one in held:
        if one.columns:
            named = frozenset(one.columns)
            columns = named if columns is None else columns & named
    properties = {name.lower(): value for name, value in recipient.properties.items()}
    return TableRule(
        tuple(one.condition for one in held if one.condition),
        columns,
        properties | {NAME: recipient.name},
        is_plain=is_plain or recipient.plain,
    )


@lru_cache(maxsize=1024)
def _asked_names(condition: str) -> frozenset[str]:
    """Return the recipient's values that a condition asks for.

    A page asks for many recipients of one share.
    """
    return asked_properties(parse_sql(condition))


def _shape(schema: StructType, visible: StructType) -> str:
    """Return a text of what values are read and written: names, places and types.

    A column that a condition looks at may be read as another one in another version.
    """
    parts = [
        [
            f.name,
            f.stored_name,
            f.field_id,
            type_text(f.data_type),
            f.name in visible.names,
        ]
        for f in schema.fields
    ]
    return json.dumps(parts)
