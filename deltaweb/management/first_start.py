"""What `deltaweb serve` does before the first request: an administrator, tables."""

import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from django.conf import settings
from django.db import DatabaseError, connection
from django.utils import timezone

from apps.accounts import services as accounts
from apps.jobs.models import Job
from apps.pages.actions import Actor, Stamp
from apps.pages.command import Error
from apps.tables.catalogue.lakes.scan_job import SCAN_ROOT, request_scan
from apps.tables.catalogue.lakes.scanning import scan_lake
from apps.tables.catalogue.lakes.services import LakeRule, add_lake
from apps.tables.catalogue.scanning import load_samples
from apps.tables.models import Lake
from apps.tables.storage.finding import check_reached
from apps.tables.storage.locations import is_remote, parse_location
from apps.tables.storage.roots import allow_root
from deltaweb.delta.errors import DeltaError, LocationInvalidError

FIRST_START = Actor(name="start of the server")
SAMPLES_MARKER: Final = "samples-registered"  # a file of the home
REPEAT: Final = "1h"  # how often a lake is scanned that a start names
RETRY_S: Final = 30.0  # between two attempts to reach one
FIRST_LOOK_S: Final = 0.5  # before the terminal says first how far a scan is
LAST_LOOK_S: Final = 15.0

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


def register_lake(
    location: str,
    say: Callable[[str], object] = print,
    *,
    by_job: bool = False,
    pause: Callable[[float], object] = time.sleep,
) -> None:
    """Register every table below a location; what is known already stays as it is.

    A store that does not answer is tried again until it does. Nothing is kept of a
    location that was never reached.

    Args:
        location: From `check_lake`.
        say: Told how many tables are found, in a sentence for the terminal.
        by_job: Whether a worker scans, so that the pages show the scan as well.
        pause: Waits a number of seconds.
    """
    try:
        lake = _reached(location, say, pause)
        if by_job:
            _follow(request_scan(lake.url, stamp=_stamp()), say, pause)
        else:
            report = scan_lake(lake, stamp=_stamp())
            say(_found_text(location, report.num_found, len(report.registered)))
    except DeltaError as error:
        logger.error("%s: %s", location, error)  # noqa: TRY400 (a sentence)
    except Exception:
        logger.exception("%s could not be scanned.", location)
    finally:
        connection.close()


def _reached(
    location: str, say: Callable[[str], object], pause: Callable[[float], object]
) -> Lake:
    """Return the lake of a location; wait for one that is new to answer."""
    said = ""
    while not Lake.objects.filter(url=location).exists():
        try:
            check_reached(location)
        except DeltaError as error:
            if said != str(error):
                said = str(error)
                say(f"{said} It is tried again every {RETRY_S:g} s.")
            connection.close()
            pause(RETRY_S)
        else:
            allow_root(location, reason="LAKE", now=timezone.now())
            return add_lake(location, LakeRule(schedule=REPEAT), stamp=_stamp())
    allow_root(location, reason="LAKE", now=timezone.now())
    return Lake.objects.get(url=location)


def _follow(
    job: Job, say: Callable[[str], object], pause: Callable[[float], object]
) -> None:
    """Say how far a scan is until it ends, less and less often."""
    wait_s, said = FIRST_LOOK_S, ""
    root = (job.parameters or {})["root"]
    while job.state in Job.ACTIVE_STATES:
        text = f"{root}: {job.progress_done:,} {job.progress_unit} found so far"
        if job.progress_done and text != said:
            say(text)
            said, wait_s = text, min(2 * wait_s, LAST_LOOK_S)
        pause(wait_s)
        job.refresh_from_db()
    result = SCAN_ROOT.found(job)
    if result is not None:
        say(_found_text(root, result.found, result.num_registered))
    else:
        logger.error("%s: %s", root, f"{job.error} {job.error_hint}".strip())


def _found_text(location: str, num_found: int, num_new: int) -> str:
    tables = "table" if num_found == 1 else "tables"
    return f"{location}: {num_found:,} {tables} found, {num_new:,} of them new"


def _stamp() -> Stamp:
    return Stamp(FIRST_START, timezone.now())


def register_samples(now: datetime, *, is_asked: bool = False) -> None:
    """Make the sample tables on the very first start; removed ones stay removed.

    Where they are asked for, they come back.
    """
    marker = settings.HOME / SAMPLES_MARKER
    if marker.exists() and not is_asked:
        return
    load_samples(stamp=Stamp(FIRST_START, now))
    marker.touch(mode=0o600)
