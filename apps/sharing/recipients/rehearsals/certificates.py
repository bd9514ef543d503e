"""What came of the last rehearsal, a client and a table, and what a commit broke."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from apps.pages.page_json import shaped
from apps.sharing.models import Certificate, Recipient, SharedTable
from apps.sharing.recipients.rehearsals.rehearsal import Reading, Rehearsal


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateResource(Reading):
    """How a client last read a table for a recipient.

    Attributes:
        passed_version: The newest version that the client has read; null if none.
        broken_since: The first newer version that the client could not read; null if
            there is none.
    """

    recipient: str
    rehearsed_at: datetime
    passed_version: int | None
    broken_since: int | None


@transaction.atomic
def keep(recipient: Recipient, held: Rehearsal) -> None:
    """Keep what came of a rehearsal, in the place of what came of the one before.

    What is no longer granted, or no longer installed, has no certificate.
    """
    kept = {
        (one.shared_table_id, one.client): one
        for one in Certificate.objects.filter(recipient=recipient)
    }
    there = set(
        SharedTable.objects.filter(
            id__in={one.shared_id for one in held.readings if one.shared_id}
        ).values_list("id", flat=True)
    )
    for reading in held.readings:
        if reading.shared_id is None or reading.shared_id not in there:
            continue  # it was taken out of the share meanwhile
        before = kept.pop((reading.shared_id, reading.client), None)
        row = before or Certificate(
            recipient=recipient,
            shared_table_id=reading.shared_id,
            client=reading.client,
        )
        _renew(row, reading, at=held.rehearsed_at)
        row.save()
    Certificate.objects.filter(id__in=[one.id for one in kept.values()]).delete()


def _renew(row: Certificate, reading: Reading, *, at: datetime) -> None:
    row.client_version = reading.client_version
    row.version = reading.version
    row.num_rows = reading.num_rows
    row.size_bytes = reading.size_bytes
    row.duration_s = reading.duration_s
    row.is_equal = reading.is_equal
    row.error = reading.error or ""
    row.remedy = reading.remedy or ""
    row.rehearsed_at = at
    version, passed = reading.version, row.passed_version
    if reading.has_passed:
        row.passed_version, row.broken_version = version, None
    elif (
        row.broken_version is None
        and version is not None
        and passed is not None
        and version > passed  # at the same one, no commit is to blame
    ):
        row.broken_version = version


def certificates_of(recipient: Recipient) -> list[CertificateResource]:
    """Return how each client last read each table of a recipient, by table."""
    return _resources(Certificate.objects.filter(recipient=recipient))


def broken_for(recipient: Recipient) -> list[CertificateResource]:
    """Return the clients that a commit broke for a recipient, by table."""
    broken = Certificate.objects.filter(broken_version__isnull=False)
    return _resources(broken.filter(recipient=recipient))


def broken_in(tables: Collection[UUID]) -> dict[UUID, list[CertificateResource]]:
    """Return the clients that a commit broke, by shared table."""
    rows = Certificate.objects.filter(
        broken_version__isnull=False, shared_table__in=tables
    )
    found: dict[UUID, list[CertificateResource]] = {}
    for row in _loaded(rows):
        found.setdefault(row.shared_table_id, []).append(_resource(row))
    return found


def _loaded(rows: QuerySet[Certificate]) -> QuerySet[Certificate]:
    return rows.select_related("recipient", "shared_table__share").order_by(
        "shared_table__share__name_key",
        "shared_table__schema_key",
        "shared_table__name_key",
        "recipient__name_key",
        "id",
    )


def _resources(rows: QuerySet[Certificate]) -> list[CertificateResource]:
    return [_resource(row) for row in _loaded(rows)]


def _resource(row: Certificate) -> CertificateResource:
    shared = row.shared_table
    return shaped(
        CertificateResource,
        row,
        shared_id=row.shared_table_id,
        recipient=row.recipient.name,
        table=f"{shared.share.name}.{shared.full_name}",
        broken_since=row.broken_version,
    )
