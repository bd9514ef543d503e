"""What `deltaweb serve` does before the first request: an administrator, tables."""

import logging
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.core.management.base import CommandError
from django.db import connection
from django.utils import timezone

from deltaweb.web.accounts import services as accounts
from deltaweb.web.pages.actions import Actor
from deltaweb.web.tables.catalogue.scanning import load_samples, scan_root
from deltaweb.web.tables.storage.roots import allow_root

FIRST_START = Actor(name="start of the server")

logger = logging.getLogger(__name__)


def sign_in_link(now: datetime) -> str:
    """Return a fresh one-time link of the first administrator, made if need be."""
    user = accounts.first_admin(actor=FIRST_START, now=now)
    return accounts.issue_sign_in_link(user=user, actor=FIRST_START, now=now)


def check_lake(lake: str) -> Path | None:
    """Return the folder that LAKE names, None for blanks, or refuse in one sentence."""
    if not (lake := lake.strip()):
        return None
    path = Path(lake).expanduser().resolve()
    if not path.is_dir():
        message = f"LAKE={lake} is not a folder. Name one that holds Delta tables."
        raise CommandError(message)
    return path


def register_lake(folder: Path) -> None:
    """Register every table below the folder; what is known already stays as it is."""
    now = timezone.now()
    try:
        allow_root(str(folder), reason="LAKE", now=now)
        report = scan_root(root=str(folder), actor=FIRST_START, now=now)
        logger.info(
            "LAKE=%s: %d new tables, %d known.",
            folder,
            len(report.registered),
            len(report.known),
        )
    except Exception:
        logger.exception("LAKE=%s could not be scanned.", folder)
    finally:
        connection.close()


def register_samples(now: datetime) -> None:
    """Make the sample tables on the very first start; removed ones stay removed."""
    marker = settings.HOME / "samples-registered"
    if marker.exists():
        return
    load_samples(actor=FIRST_START, now=now)
    marker.touch(mode=0o600)
