"""What starts a server on one machine: `serve`, and what shows it, `open`, `demo`."""

import os
import socket
import sys
import threading
import webbrowser
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlencode

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser
from django.db import connection

from apps.pages.command import Error
from deltaweb.environment import home
from deltaweb.environment.checks import AT_START
from deltaweb.management import LOOK_THREADS, UNLISTED, copies, first_start
from deltaweb.management.gunicorn_line import gunicorn_line, own_address
from deltaweb.serving.supervisor import Supervisor

DISPLAYS: Final = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")


class StartCommand(BaseCommand):
    """Migrates, keeps web, workers and beat running; prints a link when web listens.

    The web server and the workers load their code during the migrations.
    """

    requires_system_checks = AT_START
    suppressed_base_arguments = {*UNLISTED}
    supervisor: Supervisor
    link = ""
    page: str | None = None

    def add_arguments(self, parser: CommandParser) -> None:
        """Take what settings have read from the line (`__main__`)."""
        parser.add_argument("--port", metavar="N", help="port on 127.0.0.1 (8000)")
        parser.add_argument(
            "--home",
            metavar="DIR",
            help=f"folder of the database, index and keys ({settings.HOME})",
        )

    def prepare(self) -> None:
        """Bring the database to what this version expects."""
        _check_port(settings.PORT)
        if settings.WORKERS:
            copies.begin_loading()
        self.supervisor = Supervisor({**os.environ, "PORT": str(settings.PORT)})
        web = gunicorn_line(own_address())
        self.supervisor.add("web", web, on_ready=self._show_link)
        self.supervisor.begin_loading()
        call_command("migrate", verbosity=0, interactive=False, stderr=self.stderr)
        home.remember_served_url(settings.HOME, settings.PUBLIC_URL)

    def serve(self, lakes: Sequence[str] = (), *, page: str | None = None) -> None:
        """Serve until interrupted.

        Args:
            lakes: Folders and URLs whose tables are registered meanwhile.
            page: The path of a page that a browser opens, signed in; None for none.
        """
        self.page = page
        with first_start.link_of_server() as self.link:
            connection.close()
            for lake in lakes:  # one that does not answer must not stop the others
                threading.Thread(
                    target=first_start.register_lake,
                    args=(lake, self._say),
                    kwargs={"by_job": bool(settings.WORKERS)},
                    daemon=True,
                ).start()
            self._add_workers()
            self.supervisor.run()

    def _say(self, text: str) -> None:
        """Say what is going on; stdout has the link alone, for scripts."""
        self.stderr.write(text, style_func=str)
        self.stderr.flush()

    def _add_workers(self) -> None:
        if not settings.WORKERS:
            return
        looks = ("--queues", "interactive", "--threads", str(LOOK_THREADS))
        spark = ("--queues", "spark", "--threads", str(settings.WORKERS))
        for name, *command in (
            ("interactive worker", "worker", *looks),
            ("worker", "worker", "--queues", "default"),
            ("spark worker", "worker", *spark),
            ("beat", "beat"),
        ):
            copies.add(self.supervisor, name, command)

    def _show_link(self) -> None:
        self.show(self.link, self.page)

    def show(self, link: str, page: str | None) -> None:
        """Print a link, which leads to a page if there is one; a browser opens it."""
        if page is not None:
            link = f"{link}?{urlencode({'next': page})}"
        self.stdout.write(f"Sign in: {link}")
        self.stdout.flush()
        if page is not None:
            open_browser(link)


def open_browser(url: str) -> None:
    """Open a browser at an address, where there is one beside the terminal.

    One that runs in the terminal would take it from the server.
    """
    if sys.platform != "linux" or any(map(os.environ.get, DISPLAYS)):
        threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()


def _check_port(port: int) -> None:
    """Refuse in one sentence while another server has the port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            message = (
                f"Port {port} of 127.0.0.1 cannot be used: {error.strerror}. Stop what"
                " uses it, or choose another: --port 8001, or PORT=8001 make run"
            )
            raise Error(message) from error
