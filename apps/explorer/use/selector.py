"""What a page shows of a table, as code for other tools."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Annotated, Final

from django.contrib.auth.models import AnonymousUser

from apps.accounts.models import User
from apps.explorer.rows.filters import RowFilter, SQLFilter
from apps.explorer.rows.form import RowQuery
from apps.explorer.rows.plan import RowPlan, row_plan
from apps.explorer.use.snippets import (
    ShownView,
    restore_snippets,
    view_snippets,
)
from apps.explorer.use.snippets.sharing_code import PROFILE
from apps.explorer.use.snippets.tools import DELTAWEB, SHARING
from apps.explorer.version.indexed import vectors_of, version_facts
from apps.explorer.version.page import TablePage
from apps.explorer.version.table_version import TableVersion
from apps.pages.page_json import As, OnPage, in_json
from apps.pages.request.server_paths import place_for_code
from apps.pages.snippets import Snippet
from apps.tables.extension.marks import share_name_of
from apps.tables.head.newest import newest_definition
from apps.tables.models import Commit, Table
from apps.tables.storage.received import is_received
from deltaweb.delta import writing
from deltaweb.delta.errors import SchemaError
from deltaweb.delta.features.known.clients import (
    DELTALAKE,
    DUCKDB,
    PANDAS,
    POLARS,
    SPARK,
    Answer,
)
from deltaweb.delta.features.known.readings import direct_readings
from deltaweb.delta.features.known.usage import VersionFacts
from deltaweb.delta.features.registry import required_features
from deltaweb.delta.protocol.schema import (
    ArrayType,
    MapType,
    PrimitiveType,
    StructType,
    parse_schema,
)
from deltaweb.delta.scan.variant_parts import VariantPart
from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.sharing.clients import client_readings
from deltaweb.storage.received.profile import split_location

MAX_NAMES_SHOWN = 5
# Of a table that somebody else shares with us, whose files no path leads to.
THROUGH_SHARING: Final = dict.fromkeys(
    (DELTALAKE, DUCKDB, POLARS, SPARK), "It is read through sharing, by its profile."
)


def _conditions(filters: Sequence[RowFilter | SQLFilter]) -> list[str]:
    return [wanted.sql for wanted in filters]


def _texts(snippets: Sequence[Snippet]) -> dict[str, str]:
    return {made.key: made.text for made in snippets if not made.refusal}


@dataclass(frozen=True, kw_only=True)
class TableUse(TablePage):
    """The code that reads a version.

    Attributes:
        newest: Whether the code always reads the newest version.
        columns: The chosen columns; empty for all.
        filters: The conditions; all must hold.
        snippets: The code for each tool; empty before the first index.
        restore: The code that restores this version; empty for the newest version.
        parts: Those columns, shown or compared, that are parts of variants.
        is_gone: Whether the files of the version are gone, so that nothing reads it.
        problem: The reason why columns or conditions are not valid; empty if they are.
    """

    newest: bool = False
    columns: Sequence[str] = ()
    filters: Annotated[Sequence[RowFilter | SQLFilter], As(_conditions)] = ()
    snippets: Annotated[Sequence[Snippet], As(_texts)] = ()
    restore: Annotated[Sequence[Snippet], As(_texts)] = ()
    parts: OnPage[Mapping[str, VariantPart]] = field(default_factory=dict)
    is_gone: OnPage[bool] = False
    problem: Annotated[str, As(lambda problem: problem or None)] = ""

    @in_json
    def refused(self) -> dict[str, str]:
        """Why a tool has no code, by the tool."""
        return {made.key: made.refusal for made in self.snippets if made.refusal}

    @property
    def columns_text(self) -> str:
        """The chosen columns in words, the first by name."""
        shown = ", ".join(self.columns[:MAX_NAMES_SHOWN])
        more = len(self.columns) - MAX_NAMES_SHOWN
        return f"{shown} and {more:,} more" if more > 0 else shown


def use_page(  # noqa: PLR0913 (what is asked, and who asks)
    at: TableVersion,
    query: RowQuery,
    *,
    user: User | AnonymousUser,
    zone: tzinfo,
    data_url: str,
    newest: bool = False,
) -> TableUse:
    """Return the code of a view.

    Args:
        query: The columns and conditions of the address.
        user: Who asks: names of shares are not for everybody.
        zone: Where a timestamp without a zone is.
        newest: Whether the code is to read whichever version is the newest.
    """
    if at.version is None or at.metadata is None:
        return TableUse(at=at, newest=newest)
    plan, problem = _plan(at.metadata.schema_string, query, zone)
    columns: tuple[str, ...] = ()
    if plan and not plan.is_default and plan.chosen != plan.all_columns:
        columns = plan.chosen
    theirs = is_received(at.table.location)
    if theirs:
        shared_as = str(split_location(at.table.location)[1])
    else:
        shared_as = share_name_of(user, at.table.id)
    access = access_to(at, is_shared=bool(shared_as))
    view = ShownView(
        name=at.table.name,
        location=f"{PROFILE}#{shared_as}"
        if theirs
        else place_for_code(at.table.location),
        version=None if newest else at.version,
        columns=columns,
        filters=plan.filters if plan else (),
        sql=tuple(wanted.sql for wanted in plan.sql) if plan else (),
        time_zone=plan.zone_name if plan else UTC_ZONE,
        parts=plan.parts if plan else {},
        shared_as=shared_as,
        data_url=data_url,
        has_text_partitions=access.has_text_partitions,
        has_nested=access.has_nested,
        has_variants=access.has_variants,
        refusals={**access.refusals, **(THROUGH_SHARING if theirs else {})},
        doubts=access.doubts,
        write_refusal="" if at.is_latest else _write_refusal(at.table),
    )
    run = at.head.timeline.shown_run if at.head.timeline else None
    return TableUse(
        at=at,
        newest=newest,
        columns=columns,
        filters=plan.conditions if plan else (),
        snippets=view_snippets(view),
        parts=view.parts,
        restore=() if at.is_latest else restore_snippets(view),
        is_gone=run is not None and run.state == Commit.Readability.GONE,
        problem=problem,
    )


def _write_refusal(table: Table) -> str:
    """Return why no version is brought back here, or nothing."""
    definition = newest_definition(table)
    if definition is None:
        return ""
    refusal = writing.requirements.removal_refusal(
        definition, root=table.full_name, operation="RESTORE"
    )
    return "" if refusal is None else refusal.message


def _plan(
    schema_string: str, query: RowQuery, zone: tzinfo
) -> tuple[RowPlan | None, str]:
    """Return columns and conditions, or why the schema lets none be taken."""
    if not query.columns and not query.filters:
        return None, ""
    try:
        return row_plan(parse_schema(schema_string), query, zone), ""
    except SchemaError as error:
        return None, error.message


# === Which clients may read a version ===


@dataclass(frozen=True, slots=True)
class Access:
    """Who reads a version.

    Attributes:
        refusals: Why a client does not, a sentence, by its name.
        doubts: The same where it is not known.
        has_text_partitions: Whether folders hold any text, as values of partitions.
        has_nested: Whether any of its columns holds arrays, maps or structs.
        has_variants: Whether any of its columns is a variant, or holds one.
    """

    refusals: dict[str, str] = field(default_factory=dict)
    doubts: dict[str, str] = field(default_factory=dict)
    has_text_partitions: bool = False
    has_nested: bool = False
    has_variants: bool = False


def access_to(at: TableVersion, *, is_shared: bool) -> Access:
    """Return who reads a version.

    Args:
        is_shared: Whether clients of shares are asked for, too.
    """
    # What a share hands out depends on its vectors; for others the protocol decides.
    facts = version_facts(at, vectors_of(at)[0] if is_shared else None)
    if facts is None:
        return Access()
    refusal = at.protocol.unsupported_reason if at.protocol else ""
    return access_by(facts, refusal=refusal, is_shared=is_shared)


def access_by(
    facts: VersionFacts, *, refusal: str = "", is_shared: bool = False
) -> Access:
    """Return who reads a version, by what is known of it.

    Args:
        refusal: Why it is not read here, or nothing.
        is_shared: Whether clients of shares are asked for, too.
    """
    refusing = [*_direct(facts), *(_of_share(facts) if is_shared else ())]
    if refusal:
        refusing.append((DELTAWEB, Answer.CANNOT, refusal))
    return Access(
        refusals={
            name: why for name, answer, why in refusing if answer is Answer.CANNOT
        },
        doubts={
            name: why for name, answer, why in refusing if answer is Answer.UNKNOWN
        },
        has_text_partitions=_has_text_partitions(facts),
        has_nested=any(
            isinstance(field.data_type, (StructType, ArrayType, MapType))
            for field in facts.fields()
        ),
        has_variants=bool(facts.columns_of({"variant"})),
    )


def _direct(facts: VersionFacts) -> Iterator[tuple[str, Answer, str]]:
    for reading in direct_readings(required_features(facts.protocol), facts):
        name, answer = reading.client.name, reading.verdict.answer
        if answer is Answer.CANNOT:
            yield name, answer, f"{name} is {reading.reason}."
        elif answer is Answer.UNKNOWN:
            yield name, answer, f"Whether {name} reads it: {reading.reason}."


def _of_share(facts: VersionFacts) -> Iterator[tuple[str, Answer, str]]:
    if facts.schema is None:
        return
    vectors = None if facts.num_vectors is None else facts.num_vectors > 0
    readings = client_readings(
        facts.protocol, facts.metadata, facts.schema, has_deletion_vectors=vectors
    )
    for reading in readings:
        if reading.name == PANDAS:
            yield SHARING, reading.verdict.answer, reading.reason


def _has_text_partitions(facts: VersionFacts) -> bool:
    if facts.schema is None:
        return bool(facts.metadata.partition_columns)
    return any(
        field.data_type == PrimitiveType("string")
        for name in facts.metadata.partition_columns
        if (field := facts.schema.find(name)) is not None
    )
