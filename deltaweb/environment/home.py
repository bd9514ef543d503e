"""The folder under which an installation keeps its state.

Its database and index show what tables hold, whoever may read those: the folder is
closed to other users of the machine, and with it all that is below.
"""

import contextlib
import logging
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

logger = logging.getLogger(__name__)


def default_home(package: Path) -> Path:
    """Return where the state of an installation is kept without DELTAWEB_HOME.

    In a checkout this is its folder `var`; of an installed package, the user's folder
    for data, since the next version replaces all that lies beside it.
    """
    if (package.parent / "manage.py").is_file():
        return package.parent / "var"
    from platformdirs import user_data_path  # noqa: PLC0415 (of an installed package)

    return user_data_path("deltaweb")


def open_home(path: Path) -> Path:
    """Make the folder if it is missing and return its absolute path.

    One that is open to everybody, as `mkdir` makes it, is closed if it is ours.
    """
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
    path = path.resolve()
    _close_to_others(path)
    return path


def open_mode(home: Path) -> int:
    """Return the mode of a home that is open to everybody; 0 of one that is not."""
    mode = stat.S_IMODE(home.stat().st_mode)
    return mode if mode & stat.S_IRWXO else 0


def _close_to_others(home: Path) -> None:
    """Take a home from those who do not own it, once, and say so.

    A group that may write was given the folder on purpose, as where executors of a
    cluster share it. A folder that others use as well, such as /tmp, is left alone.
    """
    mode = open_mode(home)
    if not mode or not _is_ours_alone(home):
        return
    closed = mode & ~stat.S_IRWXO
    if not mode & stat.S_IWGRP:
        closed &= ~stat.S_IRWXG
    try:
        home.chmod(closed)
    except OSError:  # a file system without modes: the check says it
        return
    logger.warning(
        "DELTAWEB_HOME=%r was open to every user of this machine (mode %04o); it is"
        " closed to them now (mode %04o).",
        str(home),
        mode,
        closed,
    )


def _is_ours_alone(home: Path) -> bool:
    """Whether a folder is of this user, and all that lies in it."""
    us = os.geteuid()
    status = home.stat()
    if status.st_uid != us or status.st_mode & stat.S_ISVTX or home.parent == home:
        return False
    with os.scandir(home) as entries:
        return {us}.issuperset(_owners(entries))


def _owners(entries: Iterable["os.DirEntry[str]"]) -> Iterator[int]:
    for entry in entries:
        with contextlib.suppress(FileNotFoundError):  # another process has removed it
            yield entry.stat(follow_symlinks=False).st_uid


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
