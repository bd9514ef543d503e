"""Telling news: on commit, and never at the cost of the work that they are of."""

import logging
import time
from typing import Final

from django.db import transaction

from apps.news.channels.choice import channel

logger = logging.getLogger(__name__)

REST_S: Final = 5.0  # after a channel was found cut
_rests_until = [0.0]


def publish(*topics: str) -> None:
    """Tell that these have moved on, once the transaction commits.

    News may be lost: whoever waits looks at rows now and then, too.
    """
    named = tuple(filter(None, topics))
    if named:
        transaction.on_commit(lambda: _send(named), robust=True)


def _send(topics: tuple[str, ...]) -> None:
    if time.monotonic() < _rests_until[0]:
        return
    try:
        channel().send(topics)
    except Exception as error:  # noqa: BLE001 (each channel raises its own kinds)
        _rests_until[0] = time.monotonic() + REST_S
        kind = type(error).__name__
        logger.warning("A live update was not sent (%s); pages poll instead.", kind)
