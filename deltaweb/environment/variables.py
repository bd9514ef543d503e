"""Typed reads of environment variables that fail with a sentence."""

import math
import os
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib.util import find_spec
from ipaddress import ip_network
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*", re.ASCII)
_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]*", re.ASCII)
_SMTP_PORTS: Final = {"smtp": 25, "smtp+tls": 587, "smtps": 465}
_BEGINS_A_ROOT = re.compile(r"/|[A-Za-z][A-Za-z0-9+.-]*\Z", re.ASCII)


OURS: Final = "DELTAWEB_"
_KNOWN: Final = {  # read elsewhere, or only if another one is set
    *("DELTAWEB_WEBHOOK_SECRET", "DELTAWEB_SSL_REDIRECT", "DELTAWEB_SECRET_KEY"),
    *("DELTAWEB_METRICS_KEY", "DELTAWEB_GOLDEN", "DELTAWEB_PARQUET"),
    *("DELTAWEB_READY_SOCKET", "DELTAWEB_KEY"),
}


@dataclass(frozen=True, slots=True)
class UnknownVariable:
    """A variable of the environment that no setting reads.

    Attributes:
        nearest: The variable that may be meant; "" if none is near.
    """

    name: str
    nearest: str


def unknown_variables(names: Iterable[str]) -> list[UnknownVariable]:
    """Return the variables that begin as ours do and are not read by any setting.

    Call it after all settings were read.
    """
    known = {*_KNOWN, *(f"{name}_FILE" for name in _KNOWN)}
    own = [one.removeprefix(OURS) for one in known if one.startswith(OURS)]
    found = sorted(one for one in names if one.startswith(OURS) and one not in known)
    return [
        UnknownVariable(one, f"{OURS}{near[0]}" if near else "")
        for one in found
        for near in [get_close_matches(one.removeprefix(OURS), own, n=1)]
    ]


def env_text(name: str, *, default: str = "") -> str:
    """Read a text; an empty variable counts as unset."""
    _KNOWN.add(name)
    return os.environ.get(name) or default


def env_bool(name: str, *, default: bool) -> bool:
    """Read `true` or `false`."""
    value = env_text(name, default=str(default)).lower()
    if value not in {"true", "false"}:
        message = f"{name}={value!r} is not a boolean. Use 'true' or 'false'."
        raise ImproperlyConfigured(message)
    return value == "true"


def env_word(name: str, *, default: str, words: Collection[str]) -> str:
    """Read one of some words."""
    value = env_text(name, default=default).lower()
    if value not in words:
        message = f"{name}={value!r} is not one of {', '.join(words)}."
        raise ImproperlyConfigured(message)
    return value


def env_int(name: str, *, default: int, minimum: int, maximum: int) -> int:
    """Read a whole number from `minimum` to `maximum`."""
    text = env_text(name, default=str(default))
    try:
        value = int(text)
    except ValueError:
        value = minimum - 1
    if not minimum <= value <= maximum:
        message = (
            f"{name}={text!r} is not a whole number from {minimum} to {maximum}."
            f" Set it to one, or unset it for {default}."
        )
        raise ImproperlyConfigured(message)
    return value


def env_list(name: str, *, default: list[str], separator: str = ",") -> list[str]:
    """Read a list of texts; blank entries are dropped."""
    text = env_text(name)
    if not text:
        return default
    return [entry.strip() for entry in text.split(separator) if entry.strip()]


def env_pairs(name: str) -> list[tuple[str, str]]:
    """Read pairs such as `admins=admin, engineers=editor`; the last `=` divides."""
    pairs = []
    for text in env_list(name, default=[]):
        key, _, value = (part.strip() for part in text.rpartition("="))
        if not key or not value:
            message = f"{name}: {text!r} is not a pair such as name=value."
            raise ImproperlyConfigured(message)
        pairs.append((key, value))
    return pairs


def env_choice(name: str, *, default: str, choices: Collection[str]) -> str:
    """Read one of some words."""
    text = env_text(name, default=default).lower()
    if text not in choices:
        message = f"{name}={text!r} is not one of {', '.join(choices)}."
        raise ImproperlyConfigured(message)
    return text


def env_header(name: str) -> str:
    """Read the name of an HTTP header; it has no underscore, which proxies drop."""
    text = env_text(name)
    if text and not _HEADER.fullmatch(text):
        message = f"{name}={text!r} is not the name of a header such as Remote-User."
        raise ImproperlyConfigured(message)
    return text


def env_roots(name: str) -> list[str]:
    """Read folders and prefixes of URLs, separated by colons.

    The colon of `s3://` separates nothing: a name before `://` is a scheme. What
    follows a URL begins with a slash or is a URL, so that a port is not mistaken.
    """
    roots: list[str] = []
    scheme = ""
    for text in env_list(name, default=[], separator=":"):
        if scheme and text.startswith("//"):
            roots[-1] = f"{scheme}:{text}"
        elif roots and "://" in roots[-1] and not _BEGINS_A_ROOT.match(text):
            message = (  # without the text, which may be a part of credentials
                f"{name}: what follows the colon after a URL is neither a folder nor"
                " a URL. Write only the bucket and a path, as in s3://bucket/path."
            )
            raise ImproperlyConfigured(message)
        else:
            roots.append(text)
        scheme = text if _SCHEME.fullmatch(text) else ""
    return roots


def env_networks(name: str) -> list[str]:
    """Read a list of addresses and networks such as 10.0.0.0/8."""
    networks = []
    for text in env_list(name, default=[]):
        try:
            networks.append(str(ip_network(text)))
        except ValueError as error:
            message = f"{name}: {text!r} is not an address or a network ({error})."
            raise ImproperlyConfigured(message) from error
    return networks


def env_prices(name: str) -> dict[str, float]:
    """Read prices such as `s3://=0.09, *=0`, each of a prefix of locations."""
    prices = {}
    for text in env_list(name, default=[]):
        prefix, _, price = text.rpartition("=")
        try:
            prices[prefix.strip()] = float(price)
        except ValueError:
            prefix = ""
        if not prefix.strip() or not 0 <= prices[prefix.strip()] < math.inf:
            message = f"{name}: {text!r} is not a prefix and a price: s3://=0.09."
            raise ImproperlyConfigured(message)
    return prices


def env_url(name: str, *, default: str, schemes: Collection[str]) -> str:
    """Read a URL of one of the schemes; it may hold a password, so it is not shown."""
    url = env_text(name, default=default)
    try:
        parts = urlsplit(url)
        scheme, _port = parts.scheme, parts.port
    except ValueError:
        scheme = ""
    if scheme not in schemes or "://" not in url:
        known = ", ".join(f"{scheme}://" for scheme in sorted(schemes))
        message = f"{name} is not a URL that begins with one of {known}."
        raise ImproperlyConfigured(message)
    return url


@dataclass(frozen=True, slots=True, kw_only=True)
class MailRelay:
    """A mail relay; without a host, no mail is sent.

    Attributes:
        begins_tls: Whether a plain connection becomes encrypted by STARTTLS.
        is_tls: Whether the connection is encrypted from its beginning.
    """

    host: str = ""
    port: int = 25
    user: str = ""
    password: str = field(default="", repr=False)
    begins_tls: bool = False
    is_tls: bool = False


def env_relay(name: str) -> MailRelay:
    """Read a mail relay: a host, `host:port`, or a URL that may name a user.

    The schemes are `smtp`, `smtp+tls` (STARTTLS) and `smtps`. The text is not shown,
    because it may hold a password.
    """
    text = env_text(name)
    if not text:
        return MailRelay()
    try:
        parts = urlsplit(text if "://" in text else f"smtp://{text}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in _SMTP_PORTS or parts.path.strip("/"):
        message = (
            f"{name} is not a mail relay. Use a host, host:port, or a URL such as "
            "smtp+tls://user:password@host:587."
        )
        raise ImproperlyConfigured(message)
    return MailRelay(
        host=host,
        port=port or _SMTP_PORTS[parts.scheme],
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        begins_tls=parts.scheme == "smtp+tls",
        is_tls=parts.scheme == "smtps",
    )


def env_log_place(name: str) -> str:
    """Read a file by its whole path, or a URL of syslog; "" without one."""
    text = env_text(name)
    try:
        url = urlsplit(text)
        has_port = url.port is None or url.port > 0  # or it raises an error
        has_place = bool(url.hostname or url.path) and has_port
        is_syslog = url.scheme in {"syslog", "syslog+tcp"} and has_place
    except ValueError:
        is_syslog = False
    if text and not is_syslog and not Path(text).is_absolute():
        message = (
            f"{name}={text!r} is not a place for a log. Use the whole path of a file,"
            " syslog://host:514, syslog+tcp://host:601 or syslog:///dev/log."
        )
        raise ImproperlyConfigured(message)
    return text


def env_secret(name: str, *, default: str | None = None, is_needed: bool = True) -> str:
    """Read a secret from `name`, or from the file that `name_FILE` points at.

    Args:
        is_needed: Whether it must be set; otherwise it is "" without a value.
    """
    if path := env_text(f"{name}_FILE"):
        try:
            value: str | None = Path(path).read_text(encoding="utf-8").strip()
        except OSError as error:
            message = f"{name}_FILE={path!r} cannot be read: {error.strerror}."
            raise ImproperlyConfigured(message) from error
    else:
        value = env_text(name) or default
    if not value and not is_needed and not path:
        return ""
    if not value:
        message = f"{name} is not set. Set it, or point {name}_FILE at a file."
        raise ImproperlyConfigured(message)
    return value


def require(name: str, *, because: str = "") -> None:
    """Refuse to go on while `name` (or the file `name_FILE`) is not set."""
    if not env_text(name) and not env_text(f"{name}_FILE"):
        reason = because or "DELTAWEB_PRODUCTION=true"
        message = (
            f"{name} is not set, and {reason} demands it."
            " Set it; “Settings” in the manual has them all."
        )
        raise ImproperlyConfigured(message)


def require_package(name: str, package: str) -> None:
    """Refuse a variable that asks for a package which is an extra, and is not there."""
    extra = {"psycopg": "postgres"}.get(package, package)
    if find_spec(package) is None:
        message = (
            f"{name} needs the package {package}, which is not installed."
            f" Install it: pip install 'deltaweb[{extra}]'."
        )
        raise ImproperlyConfigured(message)
