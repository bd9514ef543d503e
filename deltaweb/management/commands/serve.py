"""`deltaweb serve`: everything on one machine, from one command (`make run`)."""

import os

from django.core.management.base import CommandParser
from django.utils import timezone

from deltaweb.management import first_start
from deltaweb.management.start import StartCommand


class Command(StartCommand):
    """Serve the tables of folders, or the samples."""

    help = "Set up the database and run the web server, the workers and the clock."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the folders beside what every start takes."""
        parser.add_argument(
            "locations",
            nargs="*",
            metavar="LOCATION",
            help="a folder of Delta tables to register; without one, the sample tables",
        )
        super().add_arguments(parser)

    def handle(self, *, locations: list[str], **_: object) -> None:
        named = [first_start.check_lake(text, said="") for text in locations]
        named.append(first_start.check_lake(os.environ.get("LAKE", "")))
        lakes = [lake for lake in named if lake is not None]
        self.prepare()
        if not lakes:
            first_start.register_samples(timezone.now())
        self.serve(lakes)
