"""The command line of the web server, of `web` and of what starts everything."""

import sys

from django.conf import settings

APPLICATION = "deltaweb.serving.wsgi:application"


def own_address() -> str:
    """Return where one machine serves."""
    return f"127.0.0.1:{settings.PORT}"


def gunicorn_line(bind: str) -> list[str]:
    """Return what runs gunicorn; its threads serve streams while others wait."""
    return [
        *(sys.executable, "-P", "-m", "deltaweb.serving", APPLICATION),
        *("--config", "python:deltaweb.serving.server", "--bind", bind),
        *("--worker-class", "deltaweb.serving.worker.PatientWorker"),
        *("--workers", str(settings.WEB_PROCESSES)),
        *("--threads", str(settings.WEB_THREADS)),
        # Once for all processes, whose first answers then wait for nothing.
        "--preload",
        # Nobody uses it, and it stands in the home of the user.
        "--no-control-socket",
        # More than descriptors allow: the worker takes what there is.
        *("--worker-connections", "8192"),
        # An address may name hundreds of columns.
        *("--limit-request-line", "8190"),
        *("--keep-alive", str(settings.KEEP_ALIVE_S)),
        *("--graceful-timeout", "5", "--timeout", "120"),
        *("--log-level", "warning"),
    ]
