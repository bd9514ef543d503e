"""Loads what workers and the clock need, into the process that they are copies of.

What their jobs need that run apart is loaded with it: those are its copies, too.
"""

import os
from importlib import import_module
from typing import Final

from deltaweb.serving.supervisor import end_with_parent
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
    "deltaweb.web.jobs.sweep",
)

os.setsid()  # an interrupt at the terminal is for the process that began this one
end_with_parent()
import_module("deltaweb.web.jobs.running.apart_loaded")
load(*WORKERS, "deltaweb.management.copies:load_tasks")
