"""`deltaweb migrate`: Django's command, without the checks that load every page."""

from django.core.management.commands import migrate

from deltaweb.environment.checks import AT_START
from deltaweb.management import UNLISTED


class Command(migrate.Command):
    """Migrate; a check of the whole site would be most of the time."""

    help = "Bring the database to what this version expects; serve does so, too."
    requires_system_checks = AT_START
    suppressed_base_arguments = {*UNLISTED}
