"""What `deltaweb serve` does before the first request: an administrator, tables."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from django.conf import settings
from django.db import DatabaseError, connection
from django.utils import timezone

from apps.accounts import services as accounts
from apps.pages.actions import Actor, Stamp
from apps.pages.command import Error
from apps.pages.request.changes import UNCHANGED
from apps.tables.catalogue.lakes.scanning import scan_lake
from apps.tables.catalogue.lakes.services import LakeRule, add_lake
from apps.tables.catalogue.scanning import load_samples
from apps.tables.models import Lake
from apps.tables.storage.locations import is_remote, parse_location
from apps.tables.storage.roots import allow_root
from deltaweb.delta.errors import DeltaError, LocationInvalidError

FIRST_START = Actor(name="start of the server")
REPEAT: Final = "1h"  # how often a lake is scanned that a start names

logger = logging.getLogger(__name__)


def sign_in_link(now: datetime, *, lifetime: timedelta | None = None) -> str:
    """Return a fresh one-time link of the first administrator, made if need be.

    It is good for fifteen minutes, where nothing else is said. A browser on this
    machine needs one click for it.
    """
    user = accounts.first_admin(stamp=Stamp(FIRST_START, now))
    return accounts.issue_sign_in_link(
        user=user,
        stamp=Stamp(FIRST_START, now),
        lifetime=lifetime,
        is_one_click=True,
    )


@contextmanager
def link_of_server() -> Iterator[str]:
    """Give a link that is good until it is used, or the server ends.

    It stands in a file that only this user reads. One that a killed server has left is
    withdrawn by the next.
    """
    link = sign_in_link(timezone.now(), lifetime=accounts.UNTIL_WITHDRAWN)
    path = settings.HOME / "sign-in-link"
    if path.exists():
        accounts.withdraw_sign_in_link(url=path.read_text(encoding="utf-8").strip())
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(f"{link}\n")
    try:
        yield link
    finally:
        with suppress(DatabaseError):  # one that is gone lets nobody in, either
            accounts.withdraw_sign_in_link(url=link)


def check_lake(lake: str, *, said: str = "LAKE=") -> str | None:
    """Return the location that is named, None for blanks, or refuse in one sentence.

    A URL is not asked for: its page says how the scan goes.

    Args:
        lake: What was written, after what is `said` in front of it.
    """
    if not (lake := lake.strip()):
        return None
    if is_remote(lake):
        try:
            return parse_location(lake)
        except LocationInvalidError as error:
            raise Error(str(error)) from None
    path = Path(lake).expanduser().resolve()
    if not path.is_dir():
        message = f"{said}{lake} is not a folder. Name one that holds Delta tables."
        raise Error(message)
    return str(path)


def register_lake(location: str) -> None:
    """Register every table below a location; what is known already stays as it is."""
    now = timezone.now()
    try:
        allow_root(location, reason="LAKE", now=now)
        is_new = not Lake.objects.filter(url=location).exists()
        rule = LakeRule(schedule=REPEAT if is_new else UNCHANGED)
        stamp = Stamp(FIRST_START, now)
        lake = add_lake(location, rule, stamp=stamp)
        report = scan_lake(lake, stamp=stamp)
        logger.info(
            "LAKE=%s: %d new tables, %d known.",
            location,
            len(report.registered),
            len(report.known),
        )
    except DeltaError as error:
        logger.error("LAKE=%s: %s", location, error)  # noqa: TRY400 (a sentence)
    except Exception:
        logger.exception("LAKE=%s could not be scanned.", location)
    finally:
        connection.close()


def register_samples(now: datetime, *, is_asked: bool = False) -> None:
    """Make the sample tables on the very first start; removed ones stay removed.

    Where they are asked for, they come back.
    """
    marker = settings.HOME / "samples-registered"
    if marker.exists() and not is_asked:
        return
    load_samples(stamp=Stamp(FIRST_START, now))
    marker.touch(mode=0o600)
