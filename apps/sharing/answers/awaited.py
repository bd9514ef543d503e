"""Answers that wait for the files of a table to be prepared."""

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
    shared: SharedTable,
    answer: Callable[[], Answer],
    *,
    now: datetime,
    wait_s: float | None = None,
) -> Answer:
    """Return an answer; the preparation that it needs is requested and waited for.

    Args:
        wait_s: How long; None for `PREPARED_WAIT_S`.

    Raises:
        PlainFilesAwaitedError: If that takes longer than a request may wait.
    """
    try:
        return answer()
    except PlainFilesAwaitedError:
        job = request_preparation(shared.share, now=now)
    wait_in_turn(job, settings.PREPARED_WAIT_S if wait_s is None else wait_s)
    return answer()
