"""Back-channel logout: the provider ends sessions, whatever the browser does.

Source: OpenID Connect Back-Channel Logout 1.0, sections 2.4 to 2.6.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore
from django.db import IntegrityError, transaction

from apps.accounts.lifetimes.sessions import session_age
from apps.accounts.models import Identity, SignOnSession, SpentLogoutToken
from apps.accounts.services.records import account_action
from apps.accounts.sign_on.people import end_everything
from apps.accounts.sign_on.provider import claims_of
from apps.accounts.tokens import sha256
from apps.news.publishing import publish
from apps.news.topics import of_session
from apps.pages.actions import Actor, Stamp, report
from deltaweb.sharing.oauth.errors import JWTRefusedError
from deltaweb.sharing.oauth.signed_claims import LEEWAY, Claims, Expected

EVENT: Final = "http://schemas.openid.net/event/backchannel-logout"
MAX_SID: Final = 255
MAX_LIFE: Final = timedelta(hours=1)
PROVIDER: Final = Actor(name="provider")


def remember_session(
    identity: Identity, *, session_key: str, sid: str, now: datetime
) -> None:
    """Keep which session a provider can end. Sessions that are over are forgotten."""
    SignOnSession.objects.filter(began_at__lt=now - session_age()).delete()
    SignOnSession.objects.update_or_create(
        session_key=session_key,
        defaults={"identity": identity, "sid": sid[:MAX_SID], "began_at": now},
    )


def log_out(token: str, *, now: datetime) -> None:
    """End the session that a logout token names, or all of a person without one.

    Without a session, the person is signed out everywhere, so the keys are suspended
    until the next sign-on as well.

    Raises:
        JWTRefusedError: If the token is not one, or was used before.
    """
    claims = _checked(token, now)
    with transaction.atomic():
        _spend(claims, now)
        _end_named(claims, now)


def _end_named(claims: Claims, now: datetime) -> None:
    sid, subject = claims.get("sid"), claims.get("sub")
    people = Identity.objects.filter(issuer=settings.OIDC_ISSUER)
    if subject is not None:
        people = people.filter(subject=subject)
    sessions = SignOnSession.objects.filter(identity__in=people)
    if sid is not None:
        sessions = sessions.filter(sid=sid[:MAX_SID])
    else:
        for identity in people.select_related("user"):
            end_everything(identity.user)
    for session in sessions.select_related("identity__user"):
        _end(session, Stamp(PROVIDER, now))


def _end(session: SignOnSession, stamp: Stamp) -> None:
    SessionStore(session.session_key).delete()
    publish(of_session(session.session_key))
    report(account_action("sign_out", session.identity.user, stamp, by="provider"))
    session.delete()


def _checked(token: str, now: datetime) -> Claims:
    expected = Expected(
        issuer=settings.OIDC_ISSUER,
        audiences=[settings.OIDC_CLIENT_ID],
        now=now,
        max_life=MAX_LIFE,
    )
    claims = claims_of(token, expected)
    events = claims.get("events")
    if not isinstance(events, dict) or not isinstance(events.get(EVENT), dict):
        raise JWTRefusedError(reason="it is not a logout token")
    if "nonce" in claims:
        raise JWTRefusedError(reason="it has a nonce, as an id token does")
    names = [claims.get("sid"), claims.get("sub")]
    if not any(names) or not all(one is None or _is_name(one) for one in names):
        raise JWTRefusedError(reason="it names neither a session nor a person")
    if not _is_name(claims.get("jti")) or "iat" not in claims:
        raise JWTRefusedError(reason="it has no jti or no iat")
    return claims


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value) and value.isprintable()


def _spend(claims: Claims, now: datetime) -> None:
    """Keep a token until it has expired; a second one of its name is refused."""
    SpentLogoutToken.objects.filter(expires_at__lt=now).delete()
    expires_at = datetime.fromtimestamp(claims["exp"], tz=UTC) + LEEWAY
    try:
        with transaction.atomic():
            SpentLogoutToken.objects.create(
                jti_sha256=sha256(claims["jti"]), expires_at=expires_at
            )
    except IntegrityError:
        raise JWTRefusedError(reason="it was used before") from None
