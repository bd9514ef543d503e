"""The rules of sharing are run: once a day, and when a person has changed something."""

import logging
import math
import threading
from datetime import datetime
from functools import partial
from typing import Final

from django.db import transaction

from apps.news.publishing import publish
from apps.pages.actions import Action
from apps.sharing.health.rules import find_all
from apps.tables.health.storing import keep_findings_of_sharing
from apps.tables.models.news import HEALTH

CHANGING: Final = (
    *("share.", "recipient.", "grant.", "token.", "link.", "table.remove"),
)
"""How the names of actions begin after which rules may find something else."""
BUDGET_S: Final = 0.5
"""For a person who waits; the look of the day has no limit."""
log = logging.getLogger(__name__)
_waiting = threading.local()


def examine_sharing(now: datetime, *, budget_s: float = math.inf) -> None:
    """Run the rules about shares, tokens and recipients, and keep what they find."""
    found, unfinished = find_all(now, budget_s=budget_s)
    keep_findings_of_sharing(found, unfinished=unfinished, now=now)
    publish(HEALTH)


def follow_action(action: Action) -> None:
    """Run the rules once a change of sharing is committed; an error does no harm.

    Several changes of one transaction need one look.
    """
    if action.name.startswith(CHANGING):
        _waiting.is_due = True
        transaction.on_commit(partial(_examine_if_due, action.stamp.at), robust=True)


def _examine_if_due(now: datetime) -> None:
    if not getattr(_waiting, "is_due", False):
        return
    _waiting.is_due = False
    examine_quietly(now, budget_s=BUDGET_S)


def examine_quietly(now: datetime, *, budget_s: float = math.inf) -> None:
    """Run the rules where an error in them must not harm what was done before."""
    try:
        examine_sharing(now, budget_s=budget_s)
    except Exception:
        log.exception("The rules of sharing failed")
