"""Answers that wait for the first plain files of a table."""

from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from django.conf import settings

from apps.jobs.waiting import wait_in_turn
from apps.sharing.access.grants.preparing import request_preparation
from apps.sharing.models import SharedTable
from deltaweb.sharing.errors import PlainFilesAwaitedError

Answer = TypeVar("Answer")


def once_prepared(
    shared: SharedTable, answer: Callable[[], Answer], *, now: datetime
) -> Answer:
    """Return an answer; the preparation that it needs is requested and waited for.

    Raises:
        PlainFilesAwaitedError: If that takes longer than a request may wait.
    """
    try:
        return answer()
    except PlainFilesAwaitedError:
        job = request_preparation(shared.share, now=now)
    wait_in_turn(job, settings.PREPARED_WAIT_S)
    return answer()
