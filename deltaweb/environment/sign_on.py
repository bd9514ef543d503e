"""Checks of the settings of single sign-on, as the server starts."""

from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

ROLES: Final = ("viewer", "editor", "admin")


def check_issuer_url(issuer: str, *, production: bool) -> None:
    """Refuse an issuer that is no URL, or that production would ask without TLS."""
    try:
        parts = urlsplit(issuer)
        host = parts.hostname
    except ValueError:
        host = None
    if not host or parts.scheme not in {"http", "https"} or parts.query:
        message = f"DELTAWEB_OIDC_ISSUER={issuer!r} is not an http or https address."
        raise ImproperlyConfigured(message)
    if production and parts.scheme != "https":
        message = "DELTAWEB_OIDC_ISSUER must begin with https:// in production."
        raise ImproperlyConfigured(message)


def check_roles(pairs: Iterable[tuple[str, str]]) -> None:
    """Refuse roles of groups that are not roles."""
    for group, role in pairs:
        if role not in ROLES:
            message = (
                f"DELTAWEB_SSO_ROLES: {role!r} of {group!r} is not a role. "
                f"Use one of {', '.join(ROLES)}."
            )
            raise ImproperlyConfigured(message)


def origins_of(*urls: str) -> list[str]:
    """Return the origins of addresses, each once; an empty address has none."""
    parts = [urlsplit(url) for url in urls if url]
    return list(dict.fromkeys(f"{one.scheme}://{one.netloc}" for one in parts))
