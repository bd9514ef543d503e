"""One file of a shared table, opened for the caller that its URL was signed for."""

import io
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from apps.sharing.access import callers as access
from apps.sharing.access.grants.prepared import location_of
from apps.sharing.access.grants.rules import rule_for
from apps.sharing.access.withdrawals import IN_ITS_SCHEMA
from apps.sharing.answers.opening import terms_of
from apps.sharing.errors import AccessError
from apps.sharing.models import RecipientToken, SharedTable
from apps.tables.storage.opening import open_table_file
from deltaweb.delta.errors import DataFileError, LocationError, PathEscapesTableError
from deltaweb.sharing.errors import FileGoneError, FileRefusedError
from deltaweb.storage.local_file import open_local_file
from deltaweb.storage.signing.file_urls import (
    FileURLExpiredError,
    FileURLInvalidError,
    terms_digest,
    verify,
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRequest:
    """A URL of a file as it came, and who asks.

    Attributes:
        share: The share's name, decoded.
        path: The file's path below the table's root, decoded.
        is_prepared: Whether the path is that of a rewritten file, in their store.
    """

    share: str
    table_id: UUID
    path: str
    query: str
    address: str
    now: datetime
    is_prepared: bool = False


def open_file(
    asked: FileRequest,
    *,
    keys: Sequence[bytes],
    note_caller: Callable[[RecipientToken], None],
) -> tuple[io.FileIO, RecipientToken]:
    """Open the file of a signed URL; return the token that it was made for, too.

    The URL alone is not enough: its token must be good still, the address allowed, the
    share granted, and the table shared on the same terms, at this very request.

    Args:
        note_caller: Is called with the token of a URL that was signed here, also if
            the file is refused.
    """
    try:
        signed = verify(
            share=asked.share,
            table_id=asked.table_id,
            path=asked.path,
            query=asked.query,
            keys=keys,
            now=asked.now,
        )
    except FileURLInvalidError as error:
        if isinstance(error, FileURLExpiredError):
            note_caller(known_token(error.token_id))
        raise FileRefusedError(reason=error.reason) from None
    token = known_token(signed.token_id)
    note_caller(token)
    check_live_token(token, address=asked.address, now=asked.now)
    shared = granted_by_id(signed.table_id, token)
    terms = terms_of(shared, rule_for(shared, token.recipient))
    if signed.terms not in {terms_digest(terms, key) for key in keys}:
        raise FileRefusedError(reason=("its table is now shared on other terms"))
    try:
        if asked.is_prepared:
            file = open_local_file(location_of(shared.id), signed.path)
        else:
            file = open_table_file(shared.table, signed.path)
    except (LocationError, PathEscapesTableError):
        raise FileRefusedError(reason="it lies outside of the table") from None
    except DataFileError as error:
        logger.info("%s", error)
        raise FileGoneError from None
    return file, token


def known_token(token_id: UUID) -> RecipientToken:
    """Return the token that a URL, or keys, were made for; it may have ended."""
    tokens = RecipientToken.all_tokens.select_related("recipient")
    token = tokens.filter(id=token_id).first()
    if token is None:
        raise FileRefusedError(reason="its token was deleted")
    return token


def check_live_token(token: RecipientToken, *, address: str, now: datetime) -> None:
    """Refuse a token that has ended, or that comes from an address without access."""
    try:
        access.check_live(token, now=now)
        access.check_address(token.recipient, address)
    except AccessError as error:
        raise FileRefusedError(reason=_half_sentence(error.message)) from None


def granted_by_id(table_id: UUID, token: RecipientToken) -> SharedTable:
    """Return a shared table that a token opens."""
    granted = SharedTable.objects.select_related("share", "table").filter(
        IN_ITS_SCHEMA,
        id=table_id,
        share__grants__recipient=token.recipient_id,
        share__off_since__isnull=True,
    )
    if shared := granted.first():
        return shared
    raise FileRefusedError(reason="its table is no longer shared with you")


def _half_sentence(message: str) -> str:
    return message[:1].lower() + message[1:].rstrip(".")
