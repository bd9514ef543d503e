"""Tables of shares that are withdrawn for now, from what was last seen of them.

Lists leave them out; a request for one by name is tried all the same, so that it is
back with the first look that finds it.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from apps.sharing.access.schemas import RULED
from apps.sharing.models import SharedTable
from apps.tables.models.rights import is_open
from deltaweb.delta.errors import (
    CredentialsNeededError,
    LocationDeniedError,
    LocationNotAllowedError,
    LocationNotFoundError,
    TableNotFoundError,
)

GONE_CODES: Final = (LocationNotFoundError.code, TableNotFoundError.code)
FORBIDDEN_CODES: Final = (
    LocationDeniedError.code,
    CredentialsNeededError.code,
    LocationNotAllowedError.code,
)


class Offer(StrEnum):
    """How a table of a share stands."""

    ACTIVE = "active"
    GONE = "gone"  # its files are not there
    FORBIDDEN = "forbidden"  # storage, or this server's rules, deny it
    HIDDEN = "hidden"  # shared by its schema, and private since
    MOVED = "moved"  # shared by its schema, and in another namespace by now
    IN_PART = "in-part"  # shared by its schema, and beside it in part since


@dataclass(frozen=True, slots=True)
class OfferState:
    """How a table stands, and why, as half a sentence."""

    offer: Offer
    reason: str = ""

    @property
    def is_withdrawn(self) -> bool:
        """Whether lists leave it out."""
        return self.offer is not Offer.ACTIVE


BESIDE_A_PART: Final = Exists(
    SharedTable.objects.filter(
        RULED, share=OuterRef("share"), table=OuterRef("table"), from_schema=None
    )
)
"""Whether the share has a part of the same table, put into it by itself."""
# Rows that came with a schema count while the catalogue has them in it, and nobody was
# to see less of them.
IN_ITS_SCHEMA: Final = Q(from_schema__isnull=True) | Q(
    ~BESIDE_A_PART,
    is_open("table__"),
    table__namespace=F("from_schema__namespace"),
)
LISTED: Final = (
    IN_ITS_SCHEMA
    & ~Q(table__error_code__in=[*GONE_CODES, *FORBIDDEN_CODES])
    & Q(table__vanished_at__isnull=True)
)


def with_parts(rows: QuerySet[SharedTable]) -> QuerySet[SharedTable]:
    """Return tables of shares for each of which `offer_state` asks nothing more."""
    return rows.annotate(is_beside_a_part=BESIDE_A_PART)


def offer_state(shared: SharedTable) -> OfferState:
    """Return how a table stands, as `LISTED` sees it."""
    table, schema = shared.table, shared.from_schema
    if schema is not None and table.namespace != schema.namespace:
        return OfferState(Offer.MOVED, f"its name is now {table.full_name}")
    if schema is not None and table.is_hidden:
        return OfferState(Offer.HIDDEN, "it is private")
    if schema is not None and _is_beside_a_part(shared):
        return OfferState(Offer.IN_PART, "the share has a part of it already")
    if table.error_code in GONE_CODES or table.vanished_at is not None:
        return OfferState(Offer.GONE, "its files are missing")
    if table.error_code in FORBIDDEN_CODES:
        return OfferState(Offer.FORBIDDEN, "its storage refuses access")
    return OfferState(Offer.ACTIVE)


def _is_beside_a_part(shared: SharedTable) -> bool:
    known: bool | None = getattr(shared, "is_beside_a_part", None)
    if known is None:
        return SharedTable.objects.filter(BESIDE_A_PART, id=shared.id).exists()
    return known
