"""What would open a version to the clients that cannot read it.

What is only switched off is done here, by the page of the property; what takes a
feature out of the table is a statement for Spark, and the rest a copy.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlencode

from django.urls import reverse

from apps.explorer.version.table_version import TableVersion
from apps.pages.page_json import As, OnPage
from apps.pages.snippets import (
    SPARK_SESSION,
    Snippet,
    names_text,
    python_lines,
    python_text,
    sql_table,
)
from deltaweb.delta.features.known.readings import in_words
from deltaweb.delta.features.known.remedies import Remedy, remedy
from deltaweb.delta.features.known.table_features import TableFeature
from deltaweb.delta.features.known.usage import VersionFacts
from deltaweb.delta.protocol.schema import OPAQUE

UNREAD_TYPES = frozenset({"void", OPAQUE})


def _texts(snippets: Sequence[Snippet]) -> dict[str, str]:
    return {made.key: made.text for made in snippets}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """A feature that stops clients, and what is done about it.

    Attributes:
        feature: The name of the feature.
        title: The feature in words.
        stops: The clients that cannot read the table, as text.
        cost: What removing the feature does to the table, as a sentence.
        can_be_dropped: Whether the feature can be dropped from the table.
        switch_text: The property that lets nothing new have it, where that is not set.
        switch_url: The page that changes the property.
    """

    feature: str
    title: str
    stops: Annotated[str, As(lambda stops: stops.replace(" and ", ", ").split(", "))]
    cost: str
    can_be_dropped: bool
    switch_text: OnPage[str] = ""
    switch_url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaysIn:
    """What would open a version.

    Attributes:
        stops: The features that clients do not support.
        columns: The columns whose type clients do not support.
        code: The statements that drop features or make a copy of the table.
    """

    stops: Sequence[Stop] = ()
    columns: Sequence[str] = ()
    code: Annotated[Sequence[Snippet], As(_texts)] = ()

    @property
    def can_be_dropped(self) -> bool:
        """Whether Spark takes anything out of the table."""
        return any(stop.can_be_dropped for stop in self.stops)

    @property
    def columns_text(self) -> str:
        return in_words(self.columns[:5])


def ways_in(
    at: TableVersion,
    facts: VersionFacts,
    stopped: Sequence[tuple[TableFeature, Sequence[str]]],
    *,
    stopped_by_types: bool,
) -> WaysIn | None:
    """Return what would open a version; None where nobody is stopped.

    Args:
        facts: What is known of it.
        stopped: The features that stop clients, each with these.
        stopped_by_types: Whether a type of columns stops any.
    """
    columns = facts.columns_of(UNREAD_TYPES) if stopped_by_types else []
    if not stopped and not columns:
        return None
    known = [(feature, remedy(feature.name), names) for feature, names in stopped]
    table = sql_table(at.table.location)
    statements = [
        statement
        for feature, found, _ in known
        for statement in found.statements(feature.name, table)
    ]
    code = [_spark(statements)] if statements else []
    if columns or any(not found.is_dropped for _, found, _ in known):
        code.append(
            Snippet(
                key="ways-copy",
                label="Make a copy: deltaweb",
                text=copy_code(at.table.location, facts),
            )
        )
    return WaysIn(
        stops=[_stop(at, facts, *one) for one in known], columns=columns, code=code
    )


def _stop(
    at: TableVersion,
    facts: VersionFacts,
    feature: TableFeature,
    found: Remedy,
    names: Sequence[str],
) -> Stop:
    switch = found.switch
    is_off = switch is None or not at.is_latest or _is_off(facts, switch)
    if switch is None or is_off:
        text = url = ""
    else:
        name, value = switch
        text = f"{name} = {value}"
        page = reverse(
            "tables:table-properties", args=[at.table.namespace, at.table.name]
        )
        url = f"{page}?{urlencode({'name': name, 'value': value})}"
    return Stop(
        feature=feature.name,
        title=feature.title,
        stops=in_words(names),
        cost=found.cost,
        can_be_dropped=found.is_dropped,
        switch_text=text,
        switch_url=url,
    )


def _is_off(facts: VersionFacts, switch: tuple[str, str]) -> bool:
    """Whether nothing new has the feature: what is not set is off."""
    name, value = switch
    return facts.metadata.configuration.get(name, value).lower() == value


def _spark(statements: Sequence[str]) -> Snippet:
    lines = [f"{statement};" for statement in statements]
    return Snippet(
        key="ways-sql",
        label="Remove it: Spark SQL",
        text="\n".join([f"-- Delta 4: {SPARK_SESSION}", *lines]),
    )


def copy_code(location: str, facts: VersionFacts) -> str:
    """Return Python that copies what every client reads of a table."""
    left_out = set(facts.columns_of(UNREAD_TYPES))
    fields = facts.schema.fields if facts.schema else ()
    kept = [field.name for field in fields if field.name not in left_out]
    columns = f"columns={names_text(kept)}" if left_out else ""
    partitions = facts.metadata.partition_columns
    by = f", partition_by={names_text(partitions)}" if partitions else ""
    place = python_text(f"{location.rstrip('/')}-copy")
    table = f"DeltaTable({python_text(location)})"
    return python_lines(
        ["# in the environment that has deltaweb; all rows are in memory at once"],
        ["from deltaweb import DeltaTable"],
        [
            f"rows = {table}.snapshot().read({columns})",
            f"copy = DeltaTable.create({place}, rows.schema{by})",
            "copy.append(rows)",
        ],
    )
