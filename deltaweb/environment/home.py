"""The folder under which an installation keeps its state."""

import os
import secrets
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured


def open_home(path: Path) -> Path:
    """Make the folder if it is missing and return its absolute path."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        message = (
            f"DELTAWEB_HOME={str(path)!r} cannot be made: {error.strerror}."
            " Point DELTAWEB_HOME at a folder that this user can write."
        )
        raise ImproperlyConfigured(message) from error
    if not os.access(path, os.W_OK | os.X_OK):
        message = (
            f"DELTAWEB_HOME={str(path)!r} cannot be written by this user."
            " Point DELTAWEB_HOME at a folder that it can write."
        )
        raise ImproperlyConfigured(message)
    return path.resolve()


def served_url(home: Path) -> str:
    """Return the address that was served last from this home; "" if none was."""
    try:
        return (home / "public-url").read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return ""


def remember_served_url(home: Path, url: str) -> None:
    """Keep the address for commands that print links, and know no port."""
    path = home / "public-url"
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    beside.write_text(f"{url}\n", encoding="utf-8")
    beside.replace(path)


def secret_key(home: Path) -> str:
    """Return the installation's secret key, made once with mode 0600.

    Two processes that start together agree on one key: it is written beside and
    linked into place, which fails where the other was faster.
    """
    path = home / "secret-key"
    if not path.exists():
        beside = home / f".secret-key.{secrets.token_hex(8)}"
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(secrets.token_urlsafe(64))
        try:
            os.link(beside, path)
        except FileExistsError:
            pass
        finally:
            beside.unlink()
    return path.read_text(encoding="ascii").strip()
