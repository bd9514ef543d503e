"""Which of Django's checks each process of an installation makes as it starts.

Those of the whole site load every page: `manage.py check` makes them, and the process
that serves pages. Workers and the clock would be a third larger by them and start in
twice the time.
"""

import os
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage
from django.core.checks import Warning as CheckWarning

from deltaweb.environment.home import open_mode
from deltaweb.environment.variables import unknown_variables

SETTINGS = "settings"  # a tag: what variables say that allows nothing
AT_START = [SETTINGS]


def check_home(*_: Any, **__: Any) -> list[CheckMessage]:  # noqa: ANN401 (whatever Django passes on)
    """Warn of a home that is open to everybody, and could not be closed."""
    home = settings.HOME
    mode = open_mode(home)
    if not mode:
        return []
    message = (
        f"DELTAWEB_HOME={str(home)!r} is open to every user of this machine"
        f" (mode {mode:04o}): they can read its database and its index."
    )
    hint = (
        "Point DELTAWEB_HOME at a folder that is deltaweb's alone; if this one is,"
        f" let its owner close it: 'chmod o= {home}'."
    )
    return [CheckWarning(message, hint=hint, id="deltaweb.W001")]


def check_variables(*_: Any, **__: Any) -> list[CheckMessage]:  # noqa: ANN401 (as above)
    """Warn of variables that no setting reads, because they may be misspelt."""
    return [
        CheckWarning(
            f"No setting reads the variable {one.name}.",
            hint=f"Did you mean {one.nearest}?" if one.nearest else "Remove it.",
            id="deltaweb.W002",
        )
        for one in unknown_variables(os.environ)
    ]
