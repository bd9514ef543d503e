"""Loads what workers and the clock need, into the process that they are copies of.

What their jobs need that run apart is loaded with it: those are its copies, too.
"""

from typing import Final

import deltaweb.web.jobs.running.apart_loaded  # noqa: F401 (it loads Django first)
from deltaweb.web.jobs.running.apart_process import load

WORKERS: Final = (
    "celery.apps.beat",
    "celery.apps.worker",
    "celery.bin.celery",
    "celery.concurrency.thread",
    "deltaweb.management.commands.beat",
    "deltaweb.management.commands.worker",
    "deltaweb.web.jobs.broker.file_broker",
    "deltaweb.web.jobs.running.apart",
    "deltaweb.web.jobs.running.retirement",
    "deltaweb.web.jobs.sweep.heartbeat",
)

load(*WORKERS, "deltaweb.management.copies:load_tasks")
