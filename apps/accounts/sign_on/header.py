"""The header in which an authenticating proxy names the person of a request.

It counts only from the addresses of the proxy, which are those of the socket: a caller
writes `X-Forwarded-For`. From elsewhere it is refused.
"""

import hashlib
from ipaddress import ip_network
from typing import Final

from django.conf import settings
from django.http import HttpRequest

from apps.accounts.errors import RemoteUserInvalidError, RemoteUserRefusedError
from apps.accounts.sign_on.admission import MAX_GROUPS, MAX_SUBJECT, Person, Rules
from apps.accounts.sign_on.people import PROXY
from apps.pages.request.addresses import parse_address

NOT_PAGES: Final = (
    "/api/",
    "/delta-sharing",
    "/iceberg",
    "/activate/",
    "/portal/",
)
"""The paths of scripts and recipients, where the header does not sign people in."""


def is_page(request: HttpRequest) -> bool:
    """Whether the header may sign a person in here."""
    return not f"/{request.path_info.lstrip('/')}".startswith(NOT_PAGES)


def person_of(request: HttpRequest) -> Person | None:
    """Return the person whom the proxy names; None if it names no person.

    Raises:
        RemoteUserRefusedError: If the header comes from another address.
        RemoteUserInvalidError: If it cannot be read as one name.
    """
    if not any(_key(name) in request.META for name in _names()):
        return None
    if not _is_proxy(str(request.META.get("REMOTE_ADDR", ""))):
        raise RemoteUserRefusedError(header=settings.REMOTE_USER_HEADER)
    subject = _text(request, settings.REMOTE_USER_HEADER)
    if not subject:
        return None
    # A server that joins headers sent twice puts a comma between them.
    if "," in subject or len(subject) > MAX_SUBJECT:
        raise RemoteUserInvalidError(header=settings.REMOTE_USER_HEADER)
    groups = _text(request, settings.REMOTE_GROUPS_HEADER).split(",")
    email = _text(request, settings.REMOTE_EMAIL_HEADER)
    if "," in email:
        raise RemoteUserInvalidError(header=settings.REMOTE_EMAIL_HEADER)
    return Person(
        issuer=PROXY,
        subject=subject,
        name=subject,
        email=email,
        is_email_verified=bool(email),  # the proxy vouches for it
        groups=[name for one in groups[:MAX_GROUPS] if (name := one.strip(" \t"))],
    )


def digest_of(person: Person, rules: Rules) -> str:
    """Return what changes with what the proxy says of a person, and with the rules."""
    text = repr((person.subject, person.email, sorted(person.groups), rules))
    return hashlib.sha256(text.encode()).hexdigest()


def _names() -> list[str]:
    names = (
        settings.REMOTE_USER_HEADER,
        settings.REMOTE_GROUPS_HEADER,
        settings.REMOTE_EMAIL_HEADER,
    )
    return [name for name in names if name]


def _key(header: str) -> str:
    return f"HTTP_{header.upper().replace('-', '_')}"


def _is_proxy(text: str) -> bool:
    address = parse_address(text)
    networks = map(ip_network, settings.REMOTE_USER_PROXIES)
    return address is not None and any(address in one for one in networks)


def _text(request: HttpRequest, header: str) -> str:
    """Return a header as text; servers pass bytes on as Latin-1."""
    raw = str(request.META.get(_key(header), "")) if header else ""
    try:
        # Other spaces are part of a name: without them, it is another person's.
        text = raw.encode("latin-1").decode().strip(" \t")
    except UnicodeError:
        raise RemoteUserInvalidError(header=header) from None
    if not text.isprintable():
        raise RemoteUserInvalidError(header=header)
    return text
