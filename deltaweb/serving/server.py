"""What gunicorn does once, beside answering: its configuration in Python."""

from typing import Any

from apps.news.hub import hub
from deltaweb.serving.metrics import forget_process
from deltaweb.serving.readiness import tell_ready, wait_until_released


def on_starting(server: object) -> None:
    """Wait with the loaded application until the database is migrated."""
    del server
    wait_until_released()


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
