"""What recipients read in the browser, and the sessions in which they do.

A session has a secret of its own, whose hash alone is kept. It proves no more than its
token does: the token, the address and the grants are looked at in every request.
"""

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID, uuid4

from django.conf import settings
from django.db.models import QuerySet

from apps.accounts.tokens import new_token, sha256
from apps.pages.request.lock_waits import write_note
from apps.sharing.access.callers import (
    check_address,
    check_live,
    granted_shares,
    granted_table,
)
from apps.sharing.errors import (
    NotGrantedError,
    NotInBrowserError,
    SessionEndedError,
    TokenExpiredError,
    TokenRevokedError,
)
from apps.sharing.models import (
    BrowserSession,
    Recipient,
    RecipientToken,
    Share,
    SharedTable,
)

MAX_LENGTH: Final = timedelta(hours=8)
SEEN_INTERVAL: Final = timedelta(minutes=1)  # between two writes of `seen_at`
VISIT_GAP: Final = timedelta(hours=1)  # without a request: another visit begins then
KEPT: Final = timedelta(days=365)  # after a session has ended
SECRET_LENGTH: Final = 43

# === What is open ===


def open_shares(recipient: Recipient) -> QuerySet[Share]:
    """Return the shares that a recipient may read in the browser, by name."""
    if not settings.BROWSER_READING:
        return Share.objects.none()
    shares = granted_shares(recipient)
    return shares if recipient.in_browser else shares.filter(in_browser=True)


def open_table(
    recipient: Recipient, share_name: str, schema_name: str, table_name: str
) -> SharedTable:
    """Return a table that a recipient may read in the browser."""
    table = granted_table(recipient, share_name, schema_name, table_name)
    if not open_shares(recipient).filter(id=table.share_id).exists():
        name = f"{share_name}/{schema_name}/{table_name}"
        raise NotGrantedError(kind="table", name=name)
    return table


# === Sessions ===


def open_session(  # noqa: PLR0913 (of what, by what, from where and for how long)
    token: RecipientToken,
    *,
    by: BrowserSession.OpenedBy,
    address: str,
    now: datetime,
    longest: timedelta = MAX_LENGTH,
    session_id: UUID | None = None,
) -> tuple[BrowserSession, str]:
    """Begin a session of a token, and return it with its secret.

    The caller has looked at the proof; the token, the address and the grants are
    looked at here.

    Args:
        longest: How long the session lasts, if the token does not end before that.
        session_id: The id of the session, of which there is one at most; None for a
            random one.

    Raises:
        IntegrityError: If there is a session of that id.
    """
    _check(token, address=address, now=now)
    secret = new_token()
    session = BrowserSession.objects.create(
        id=session_id or uuid4(),
        token=token,
        secret_sha256=sha256(secret),
        opened_by=by,
        opened_at=now,
        opened_from=address[:64],
        seen_at=now,
        open_until=min(now + longest, token.ends_at),
        previous_visit_at=_previous_visit(token.recipient, now),
    )
    BrowserSession.objects.filter(open_until__lt=now - KEPT).delete()
    return session, secret


def session_of(secret: str, *, address: str, now: datetime) -> BrowserSession:
    """Return the session that a secret opens, with its token and recipient.

    One whose token, grant or share has ended is over for good. One from an address
    that is not allowed is refused, and goes on where it is.

    Raises:
        SessionEndedError: If there is none, or it is over.
        AccessError: If its token has ended, or the address is not allowed.
    """
    if len(secret) != SECRET_LENGTH:
        raise SessionEndedError
    sessions = BrowserSession.objects.select_related("token__recipient")
    session = sessions.filter(secret_sha256=sha256(secret)).first()
    if session is None or session.ended_at is not None or session.open_until <= now:
        raise SessionEndedError
    try:
        _check(session.token, address=address, now=now)
        _check_mail(session)
    except (
        NotInBrowserError,
        SessionEndedError,
        TokenExpiredError,
        TokenRevokedError,
    ):
        end_session(session, now=now)
        raise
    if session.seen_at <= now - SEEN_INTERVAL:
        row = BrowserSession.objects.filter(id=session.id)
        write_note(lambda: row.update(seen_at=now), of="A visit in the browser")
    return session


def end_session(session: BrowserSession, *, now: datetime) -> None:
    """End a session at once."""
    BrowserSession.objects.filter(id=session.id, ended_at=None).update(ended_at=now)


def end_by_secret(secret: str, *, now: datetime) -> None:
    """End the session of a secret, if there is one."""
    known = BrowserSession.objects.filter(secret_sha256=sha256(secret), ended_at=None)
    known.update(ended_at=now)


def _check(token: RecipientToken, *, address: str, now: datetime) -> None:
    check_live(token, now=now)
    check_address(token.recipient, address)
    if not open_shares(token.recipient).exists():
        raise NotInBrowserError


def _check_mail(session: BrowserSession) -> None:
    """Refuse a session by e-mail if the address was not confirmed all the time."""
    if session.opened_by != BrowserSession.OpenedBy.MAIL:
        return
    since = session.token.recipient.mail_sign_in_since
    if since is None or session.opened_at < since:
        raise SessionEndedError


def _previous_visit(recipient: Recipient, now: datetime) -> datetime | None:
    """Return when a recipient last looked, before the visit that begins or goes on."""
    earlier = BrowserSession.objects.filter(token__recipient=recipient)
    last = earlier.order_by("-seen_at").first()
    if last is None:
        return None
    return last.seen_at if last.seen_at < now - VISIT_GAP else last.previous_visit_at
