"""The checks of allowed roots and of tables for the doctor of a set-up."""

import os
from collections.abc import Iterator
from typing import Final

from django.conf import settings

from apps.operate.doctor.checks import (
    FAIL,
    OK,
    WARN,
    Found,
    SetupCheck,
    SetupOptions,
    setup_checks,
)
from apps.tables.models import Table

MAX_NAMED: Final = 5


def look_at_storage(_: SetupOptions) -> Iterator[Found]:
    """Look at local roots, and at what probes of tables found last."""
    for root in settings.ALLOWED_ROOTS or ():
        if "://" not in root and not os.access(root, os.R_OK | os.X_OK):
            says = f"The allowed root {root} cannot be read."
            yield FAIL, says, "Mount it, or give the user of deltaweb access."
    looked = Table.objects.exclude(probed_at=None)
    total = looked.count()
    failing = looked.filter(probe_failures__gt=0).order_by("namespace", "name")
    for table in failing[:MAX_NAMED]:
        yield WARN, f"{table.full_name}: {table.error[:200]}", table.error_hint
    number = failing.count()
    if number:
        says = f"{number} of {total} tables cannot be reached."
        yield FAIL if number == total else WARN, says, "Health lists them."
    else:
        yield OK, f"All {total} tables were reached when they were last probed.", ""


setup_checks.register(SetupCheck(name="storage", look=look_at_storage))
