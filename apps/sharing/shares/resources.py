"""A share and a table of one: how they are answered, and how a table is changed."""

from collections.abc import Iterator
from dataclasses import MISSING, dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import Count, OuterRef, Prefetch, QuerySet, Subquery
from django.db.models.functions import Coalesce

from apps.audit.models import AuditEvent
from apps.pages.changes.parameters import Line, parameter
from apps.pages.page_json import OnPage, Spread, shaped
from apps.pages.request.changes import UNCHANGED, Unchanged
from apps.pages.request.server_paths import (
    place_for_reader,
    text_for_reader,
)
from apps.sharing.access.offered import OfferedPart, offered_part
from apps.sharing.access.withdrawals import offer_state
from apps.sharing.activity.usage import FIRST_FAILED_STATUS, reads
from apps.sharing.models import Recipient, Share, SharedTable
from apps.sharing.shares.forms import MAX_TEXT_LENGTH
from apps.sharing.shares.terms import Terms

CHUNK = 500
MAX_TABLE_NAME_LENGTH: Final = 401


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareResource:
    """A group of tables that is granted as one.

    Attributes:
        recipients: The names of the recipients that can read the share.
        last_read_at: The last time when its rows were requested.
        off_since: The time when the share was turned off; null if it is on.
        plain: Whether all its tables are served as plain files.
        created_by: The name of the user who created it; null for the command line.
        description: What people with an account read of it if it is listed.
        listed: Whether people with an account find it and can request access.
    """

    name: str
    comment: str
    num_tables: int
    num_recipients: int
    recipients: list[str]
    last_read_at: datetime | None
    off_since: datetime | None
    plain: bool
    created_at: datetime
    created_by: str | None
    id: UUID
    url: str
    description: str
    listed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedTableResource:
    """A table of a share.

    Attributes:
        name: The name as `schema.table`, as recipients write it.
        table: The full name of the registered table at `location`.
        with_directory: Whether recipients can read the whole folder, with temporary
            credentials.
        plain: Whether files are served as plain Parquet; its share or a recipient can
            have it, too.
        from_schema: The whole schema that the table belongs to; null if the table was
            added itself.
        earlier_urls_end_at: The time until which object store URLs work that were
            issued on other terms (condition, columns or versions); null if there are
            none.
        preparation_problem: The reason why the newest version could not be prepared;
            null if it could.
        preparation_failed_at: The time since when preparing fails.
        state: `active`, or the reason why recipients do not see the table: `gone`,
            `forbidden`, `hidden`, `moved`. `state_reason` is the reason in words.
        versions: The shared versions, in words.
    """

    share: str
    name: str
    schema: str
    table: str
    location: str
    comment: str
    part: Spread[OfferedPart]
    with_directory: bool
    plain: bool
    from_schema: str | None
    earlier_urls_end_at: datetime | None
    preparation_problem: str | None
    preparation_failed_at: datetime | None
    state: str
    state_reason: str | None
    versions: OnPage[str]
    added_at: datetime
    id: UUID


# === A table, as it is sent ===


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOffer(Terms):
    """The part of a registered table that a share offers.

    A field that is left out stays as it is, if the table is in the share already. A
    table that is new in the share is offered with its history, all rows and all columns
    unless a field says otherwise.

    Attributes:
        table: The registered table, as `namespace.name`. If left out for a table that
            is new in the share, the table of the same name.
    """

    table: str | Unchanged = UNCHANGED


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTable(Terms):
    """A registered table that is put into a share by a command.

    Attributes:
        table: The registered table.
    """

    table: str = parameter(
        MISSING,
        "--table",
        required=True,
        metavar="NAME",
        help="the registered table",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedHere(Terms):
    """The names and the terms of a table that is put into a share.

    Attributes:
        schema: The schema in the share; "" for the namespace of the table.
        name: The name in the share; "" for that of the table.
    """

    schema: str = parameter(
        "",
        None,
        line=Line(label="Schema", most=MAX_TEXT_LENGTH, codes=("name-invalid schema",)),
    )
    name: str = parameter(
        "",
        None,
        line=Line(
            label="Name",
            most=MAX_TEXT_LENGTH,
            codes=("name-invalid table", "name-taken"),
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedTable(OfferedHere):
    """A registered table that is put into a share by the page of the share.

    Attributes:
        table: The registered table.
    """

    table: str = parameter(
        MISSING,
        "--table",
        line=Line(
            label="Table",
            most=MAX_TABLE_NAME_LENGTH,
            is_needed=True,
            wrong="Choose a table to share.",
            codes=("table-not-registered",),
        ),
    )


# === Resources of rows ===


def with_numbers(shares: QuerySet[Share]) -> Any:  # noqa: ANN401 (annotated rows)
    """Add to shares what `share_resource` needs: counts, names and the last read."""
    answered = AuditEvent.objects.filter(
        share=OuterRef("name"), status__lt=FIRST_FAILED_STATUS
    )
    tables = SharedTable.objects.filter(share=OuterRef("id")).order_by()
    grants = Share.recipients.through.objects.filter(share=OuterRef("id")).order_by()
    names = Prefetch("recipients", Recipient.objects.only("name", "name_key"))
    found = shares.annotate(
        num_tables=_count_of(tables),
        num_recipients=_count_of(grants),
        last_read_at=Subquery(reads(answered).values("at")[:1]),
    )
    return found.select_related("created_by").prefetch_related(names)


def share_resource(share: Any) -> ShareResource:  # noqa: ANN401 (an annotated row)
    """Return a share of `with_numbers`."""
    return shaped(
        ShareResource,
        share,
        recipients=[recipient.name for recipient in share.recipients.all()],
        created_by=share.created_by.username if share.created_by else None,
        url=share.get_absolute_url(),
        listed=share.is_listed,
    )


def share_resources(shares: QuerySet[Share]) -> Iterator[ShareResource]:
    """Yield shares as machine forms name them, in their order."""
    yield from map(share_resource, with_numbers(shares).iterator(chunk_size=CHUNK))


def resource_of_share(share: Share) -> ShareResource:
    """Return one share as machine forms name it."""
    return next(share_resources(Share.objects.filter(id=share.id)))


def shared_table_resource(shared: SharedTable) -> SharedTableResource:
    """Return a table of a share as its reader may see it."""
    found = offer_state(shared)
    return shaped(
        SharedTableResource,
        shared,
        share=shared.share.name,
        name=shared.full_name,
        part=offered_part(shared),
        versions=shared.versions,
        table=shared.table.full_name,
        location=place_for_reader(shared.table.location),
        from_schema=shared.from_schema.schema if shared.from_schema else None,
        preparation_problem=text_for_reader(
            shared.preparation_problem, shared.table.location
        )
        or None,
        state=found.offer.value,
        state_reason=found.reason or None,
    )


def _count_of(rows: QuerySet[Any]) -> Any:  # noqa: ANN401 (an expression)
    counted = rows.values("share").annotate(rows=Count("id")).values("rows")
    return Coalesce(Subquery(counted), 0)
