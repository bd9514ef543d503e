"""`deltaweb open LOCATION`: one table, registered, indexed and in the browser."""

import urllib.error
import urllib.request
from pathlib import Path
from typing import Final

from django.conf import settings
from django.core.management.base import CommandParser
from django.urls import reverse
from django.utils import timezone

from apps.pages.actions import Stamp
from apps.pages.command import Error
from apps.pages.errors import PageError
from apps.tables.catalogue.registering import open_table_at
from apps.tables.models import Table
from deltaweb.environment import home
from deltaweb.errors import DeltawebError
from deltaweb.management import first_start
from deltaweb.management.start import StartCommand

ANSWERS_WITHIN_S: Final = 5.0


class Command(StartCommand):
    """Register a table, and open a browser at it."""

    help = "Register and index one table, serve it, and open it in a browser."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the table beside what every start takes."""
        parser.add_argument(
            "location", metavar="LOCATION", help="a Delta table: a folder or a URL"
        )
        super().add_arguments(parser)

    def handle(self, *, location: str, **_: object) -> None:
        """Show the table by the server that runs, or run one until interrupted."""
        served = home.served_url(settings.HOME)
        if _answers(served):
            page = _page(_opened(location))
            link = first_start.sign_in_link(timezone.now())
            self.show(served + link.removeprefix(settings.PUBLIC_URL), page)
            return
        self.prepare()
        self.serve(page=_page(_opened(location)))


def _opened(location: str) -> Table:
    try:
        return open_table_at(
            location,
            base=Path.cwd(),
            stamp=Stamp(first_start.FIRST_START, timezone.now()),
        )
    except (DeltawebError, PageError) as error:
        message = f"{error.message} {error.hint}".strip()
        raise Error(message) from error


def _page(table: Table) -> str:
    return reverse("explorer:table-overview", args=[table.namespace, table.name])


def _answers(url: str) -> bool:
    if not url:
        return False
    try:
        urllib.request.urlopen(f"{url}/status.json", timeout=ANSWERS_WITHIN_S).close()  # noqa: S310 (our own)
    except urllib.error.HTTPError as error:
        return error.code == 503  # noqa: PLR2004  # no worker is there yet
    except OSError:
        return False
    return True
