"""What gunicorn does once, beside answering: its configuration in Python."""

import gc
from typing import Any, Final

from apps.news.hub import hub
from deltaweb.serving.metrics import forget_process
from deltaweb.serving.readiness import tell_ready, wait_until_released

COLLECTED_AFTER: Final = 10_000
"""Objects made between two collections of garbage; a page makes thousands."""


def on_starting(server: object) -> None:
    """Wait with the loaded application until the database is migrated.

    The loaded modules are never garbage, so collections leave them out: to look through
    them takes half a second, during which pages wait.
    """
    del server
    wait_until_released()
    gc.freeze()
    gc.set_threshold(COLLECTED_AFTER, *gc.get_threshold()[1:])


def when_ready(server: object) -> None:
    """Say that the port listens and the application is loaded; it answers then."""
    del server
    tell_ready()


def post_worker_init(worker: object) -> None:
    """Hear news from the beginning: the first page that asks for them finds them."""
    del worker
    hub().begin()


def child_exit(server: Any, worker: Any) -> None:  # noqa: ANN401 (gunicorn has no types)
    """Go back to the usual number of processes where one has retired, and forget it.

    It asked for another in its place when it began to.
    """
    forget_process(worker.pid)
    if server.num_workers > server.cfg.workers:
        server.num_workers -= 1
