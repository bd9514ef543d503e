"""`deltaweb serve`: everything on one machine, from one command (`make run`)."""

import os
import socket
import sys
import threading
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.utils import timezone

from deltaweb.environment import home
from deltaweb.environment.checks import AT_START
from deltaweb.management import backup, first_start
from deltaweb.management.commands.worker import LOOK_THREADS
from deltaweb.serving.supervisor import Supervisor


class Command(BaseCommand):
    """Migrate, keep web, workers and beat running; print a link when web listens."""

    help = "Set up the database and run the web server, the workers and the clock."
    requires_system_checks = AT_START

    def handle(self, **_: object) -> None:
        """Run until interrupted."""
        _check_port(settings.PORT)
        now = timezone.now()
        if copy := backup.before_migration(settings.HOME, now):
            self.stderr.write(f"Kept a copy of the database in {copy}")
        call_command("migrate", verbosity=0, interactive=False)
        home.remember_served_url(settings.HOME, settings.PUBLIC_URL)
        link = first_start.sign_in_link(now)
        _write_private(settings.HOME / "sign-in-link", link)
        lake_tables = first_start.check_lake(os.environ.get("LAKE", ""))
        if lake_tables is None:
            first_start.register_samples(now)
        connection.close()
        if lake_tables is not None:
            thread = threading.Thread(
                target=first_start.register_lake, args=(lake_tables,), daemon=True
            )
            thread.start()
        supervisor = Supervisor({**os.environ, "PORT": str(settings.PORT)})
        deltaweb = (sys.executable, "-m", "deltaweb")
        supervisor.add("web", (*deltaweb, "web"), on_ready=lambda: self._show(link))
        if settings.WORKERS:
            looks = ("--queues", "interactive", "--threads", str(LOOK_THREADS))
            supervisor.add("interactive worker", (*deltaweb, "worker", *looks))
            supervisor.add("worker", (*deltaweb, "worker", "--queues", "default"))
            spark = ("--queues", "spark", "--threads", str(settings.WORKERS))
            supervisor.add("spark worker", (*deltaweb, "worker", *spark))
            supervisor.add("beat", (*deltaweb, "beat"))
        supervisor.run()

    def _show(self, link: str) -> None:
        self.stdout.write(f"Sign in: {link}")
        self.stdout.flush()


def _check_port(port: int) -> None:
    """Refuse in one sentence while another server has the port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            message = (
                f"Port {port} of 127.0.0.1 cannot be used: {error.strerror}."
                " Stop what uses it, or choose another: PORT=8001 make run"
            )
            raise CommandError(message) from error


def _write_private(path: Path, text: str) -> None:
    """Write a file that only this user can read."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(f"{text}\n")
