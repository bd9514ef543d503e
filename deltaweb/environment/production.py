"""What DELTAWEB_PRODUCTION=true refuses: settings unsafe where others come in."""

import os
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

MIN_KEY_LENGTH: Final = 32
MIN_KEY_LETTERS: Final = 5  # different ones


def check_production(
    *,
    debug: bool,
    secret_key: str,
    allowed_hosts: Sequence[str],
    public_url: str,
    allowed_roots: Sequence[str],
) -> None:
    """Refuse settings that are unsafe where others reach the server."""
    reasons = {
        "DEBUG": debug and "must not be true: its pages show code and settings",
        "SECRET_KEY": (
            len(secret_key) < MIN_KEY_LENGTH or len(set(secret_key)) < MIN_KEY_LETTERS
        )
        and f"must be a random text of at least {MIN_KEY_LENGTH} characters",
        "ALLOWED_HOSTS": "*" in allowed_hosts
        and "must name the hosts: * answers to any name",
        "PUBLIC_URL": not _is_https(public_url)
        and "must begin with https:// and a host name",
        "ALLOWED_ROOTS": any(os.path.realpath(root) == "/" for root in allowed_roots)
        and "must not hold /, which is every file",
    }
    for name, reason in reasons.items():
        if reason:
            message = f"DELTAWEB_{name} {reason}, while DELTAWEB_PRODUCTION=true."
            raise ImproperlyConfigured(message)


def _is_https(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "https" and bool(parts.hostname)
