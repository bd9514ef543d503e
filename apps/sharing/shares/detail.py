"""What the page of one share shows, and the choices of its forms."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q
from django.shortcuts import resolve_url

from apps.pages.lists.paging import Paged, paged
from apps.pages.page_json import As, Named, OnPage, Spread, in_json
from apps.sharing.access.grants.rules import rules_by_table
from apps.sharing.access.withdrawals import OfferState, offer_state, with_parts
from apps.sharing.activity.usage import DailyUse, calls
from apps.sharing.activity.use_resource import UseResource, use_resource
from apps.sharing.clients.preflight import Preflight, preflight_data, preflights_of
from apps.sharing.models import (
    PreparedVersion,
    Recipient,
    RecipientRule,
    Share,
    SharedTable,
)
from apps.sharing.recipients.last_reads import readers_behind
from apps.sharing.recipients.listing import RecipientRow, recipient_rows
from apps.sharing.recipients.rehearsals.certificates import (
    CertificateResource,
    broken_in,
)
from apps.sharing.shares.resources import (
    SharedTableResource,
    ShareResource,
    resource_of_share,
    shared_table_resource,
)
from apps.sharing.shares.schemas import SharedSchemaResource, schema_resources
from apps.tables.models import Table
from apps.tables.versions.readable import lost_runs, names_of_runs
from deltaweb.delta.errors import DeltaError
from deltaweb.delta.log.versions import ReadableRun

CHOICES_LENGTH = 20
TABLES_LENGTH = 100  # on a page of one share
RECIPIENTS_SHOWN = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleState:
    """What recipients with equal rules read of a table.

    Attributes:
        recipients: Their names.
        missing: Properties that the condition asks for and they lack.
        prepared: The newest version that is ready under this very rule, or None.
        newest: The newest version that is known of the table.
    """

    recipients: list[str]
    missing: list[str]
    prepared: PreparedVersion | None
    newest: int | None

    @property
    def is_behind(self) -> bool:
        """Whether a newer version is known that is not ready."""
        ready = self.prepared.version if self.prepared else -1
        return self.newest is not None and ready < self.newest

    @property
    def is_empty(self) -> bool:
        """Whether they see no row of the version that is ready."""
        return self.prepared is not None and self.prepared.num_rows == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedTableRow:
    """A table of a share, with what clients make of it.

    Attributes:
        preflight: Which clients can read its newest version.
        rules: What recipients see who see only a part, for the first of them.
        rule_problem: Why that is not known; "" if it is.
        lost_runs: Versions that are offered, and cannot be read any more.
        num_readers: The number of recipients that have read the table.
        num_readers_behind: The number of these that have not read the newest version.
        broken: Clients that could read the table in a rehearsal, but not its newer
            version.
    """

    shared_table: OnPage[SharedTable]
    resource: Spread[SharedTableResource]
    preflight: Annotated[Preflight, Named("clients"), As(preflight_data)]
    rules: OnPage[list["RuleState"]] = field(default_factory=list)
    rule_problem: OnPage[str] = ""
    lost_runs: Annotated[
        list[ReadableRun],
        Named("lost_versions"),
        As(lambda runs: [[run.first, run.last] for run in runs]),
    ] = field(default_factory=list)
    num_readers: int = 0
    num_readers_behind: int = 0
    broken: list[CertificateResource] = field(default_factory=list)

    @property
    def offer(self) -> OfferState:
        """Whether recipients see it, and if not, why."""
        return offer_state(self.shared_table)

    @property
    def plain_url(self) -> str:
        """The page with the setting of plain files."""
        page = self.shared_table.share.get_absolute_url()
        return f"{page}?edit={self.shared_table.id}#edit-plain-help"

    @property
    def ids_url(self) -> str:
        """The page with the setting of field ids."""
        page = resolve_url("sharing:share-settings", self.shared_table.share.name)
        return f"{page}#field-ids"

    @property
    def is_ruled(self) -> bool:
        """Whether files may have to be prepared for every recipient."""
        return not self.shared_table.is_whole or self.shared_table.is_plain

    @property
    def lost_versions(self) -> str:
        """Which of the versions that are offered cannot be read, in words."""
        return names_of_runs(self.lost_runs)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareDetail:
    """One share with a page of its tables, its readers and what they did with it.

    `readers` are the first by name.
    """

    resource: Spread[ShareResource]
    tables: list[SharedTableRow]
    schemas: list[SharedSchemaResource]
    paged: OnPage[Paged]
    readers: list[RecipientRow]
    use: UseResource

    @in_json
    def usage(self) -> Sequence[DailyUse]:
        """The days of its use, by their old name."""
        return self.use.days

    @property
    def has_rules(self) -> bool:
        return any(row.is_ruled or row.rules for row in self.tables)

    @property
    def warnings(self) -> list[SharedTableRow]:
        return [
            row for row in self.tables if row.preflight.state in {"partly", "refused"}
        ]


def share_detail(share: Share, *, now: datetime, page: int = 1) -> ShareDetail:
    """Return what the page of a share shows."""
    schemas = schema_resources(share)  # of these, tables may come into the share
    resource = resource_of_share(share)
    shared = share.shared_tables.select_related("table", "share", "from_schema")
    place = paged(resource.num_tables, page, length=TABLES_LENGTH)
    runs = F("table__summary__readable_runs")
    whole = with_parts(shared.defer("table__summary"))
    narrowed = Exists(RecipientRule.objects.filter(shared_table=OuterRef("pk")))
    rows = whole.annotate(readable_runs=runs, is_narrowed=narrowed)
    tables = list(rows[place.start : place.last])
    readers = share.recipients.order_by("name_key")
    first = readers.values("id")[:RECIPIENTS_SHOWN]
    found = preflights_of(tables)
    reading = recipient_rows(Recipient.objects.filter(id__in=first), now=now)
    readers_shown = [row.recipient for row in reading]
    is_any_plain = any(one.plain for one in readers_shown)
    ruled = [
        row
        for row in tables
        if is_any_plain or row.is_plain or not row.is_whole or row.is_narrowed
    ]
    rules = _rule_states(ruled, readers_shown)
    behind = readers_behind(tables)
    broken = broken_in([row.id for row in tables])
    return ShareDetail(
        resource=resource,
        tables=[
            SharedTableRow(
                shared_table=row,
                resource=shared_table_resource(row),
                preflight=found[row.id],
                **rules.get(row.id, {}),
                lost_runs=_lost_runs(row, row.readable_runs),
                num_readers_behind=behind.get(row.id, (0, 0))[0],
                num_readers=behind.get(row.id, (0, 0))[1],
                broken=broken.get(row.id, []),
            )
            for row in tables
        ],
        schemas=schemas,
        paged=place,
        readers=reading,
        use=use_resource(calls(share=share.name), now=now),
    )


def _rule_states(
    tables: Sequence[SharedTable], readers: Sequence[Recipient]
) -> dict[UUID, dict[str, Any]]:
    """Return what recipients see of tables in part: fields of `SharedTableRow`."""
    if not tables:
        return {}
    try:
        held = rules_by_table(tables, readers)
    except DeltaError as error:
        if len(tables) == 1:
            return {tables[0].id: {"rule_problem": error.message}}
        # The condition of one cannot be read; the others have theirs.
        each = (_rule_states([table], readers) for table in tables)
        return {key: fields for found in each for key, fields in found.items()}
    digests = {rule.digest for rules in held.values() for rule, _ in rules}
    rows = PreparedVersion.objects.filter(shared_table__in=held, rule__in=digests)
    ordered = rows.order_by("version", "prepared_at")
    ready = {(row.shared_table_id, row.rule): row for row in ordered}
    return {
        table.id: {
            "rules": [
                RuleState(
                    recipients=names,
                    missing=rule.missing,
                    prepared=ready.get((table.id, rule.digest)),
                    newest=table.table.latest_version_seen,
                )
                for rule, names in held[table.id]
            ]
        }
        for table in tables
    }


def _lost_runs(shared: SharedTable, readable_runs: object) -> list[ReadableRun]:
    """Return what a table offers of its history and does not have."""
    if shared.history_start is None:
        return []
    return lost_runs(readable_runs, first=shared.history_start)


def edited_table(share: Share, wanted: str) -> SharedTableRow | None:
    """Return the table of a share that an address names by its id, or None."""
    try:
        table_id = UUID(wanted)
    except ValueError:
        return None
    shared = share.shared_tables.select_related("table", "share", "from_schema")
    one = shared.filter(id=table_id).first()
    if one is None:
        return None
    found = preflights_of([one])[one.id]
    return SharedTableRow(
        shared_table=one, resource=shared_table_resource(one), preflight=found
    )


def ungranted_recipients(share: Share, *, q: str) -> list[Recipient]:
    """Return some recipients who may not read a share yet, by name."""
    others = Recipient.objects.exclude(grants__share=share)
    if q:
        others = others.filter(Q(name__icontains=q) | Q(contact__icontains=q))
    return list(others.order_by("name_key")[:CHOICES_LENGTH])


def table_choices(*, q: str, page: int) -> tuple[list[Table], Paged]:
    """Return a page of the registered tables whose name holds `q`."""
    tables = Table.objects.defer("summary").order_by("namespace", "name")
    if q:
        namespace, dot, name = q.rpartition(".")
        named = Q(name__icontains=q) | Q(namespace__icontains=q)
        if dot and namespace and name:
            named |= Q(namespace__iendswith=namespace, name__istartswith=name)
        tables = tables.filter(named)
    place = paged(tables.count(), page, length=CHOICES_LENGTH)
    return list(tables[place.start : place.last]), place


def find_table(name: str) -> Table | None:
    """Return a registered table by `namespace.table` or its bare name."""
    namespace, dot, bare = name.strip().rpartition(".")
    if not bare or "\x00" in name:
        return None
    return Table.objects.filter(
        namespace=namespace if dot else "default", name=bare
    ).first()
