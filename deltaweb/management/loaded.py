"""Loads what workers and the clock need, into the process that they are copies of.

What their jobs need that run apart is loaded with it: those are its copies, too.
"""

import os
from importlib import import_module
from typing import Final

from deltaweb.environment import site  # noqa: F401  # the apps are found by it

# isort: split
from apps.jobs.running.apart_process import load
from deltaweb.serving.supervisor import end_with_parent

WORKERS: Final = (
    "celery.apps.beat",
    "celery.apps.worker",
    "celery.bin.celery",
    "celery.concurrency.thread",
    "deltaweb.management.commands.beat",
    "deltaweb.management.commands.worker",
    "apps.jobs.broker.file_broker",
    "apps.jobs.running.apart",
    "apps.jobs.running.retirement",
    "apps.jobs.sweep",
)

os.setsid()  # an interrupt at the terminal is for the process that began this one
end_with_parent()
import_module("apps.jobs.running.apart_loaded")
load(*WORKERS, "deltaweb.management.copies:load_tasks")
