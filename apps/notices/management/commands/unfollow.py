"""`deltaweb unfollow ...`: stop following."""

from apps.notices.management.commands import follow
from deltaweb.environment.command_lines import ASK_HELP, COMMANDS


class Command(follow.Command):
    """A line without a subcommand stops following what it names."""

    help = COMMANDS["unfollow"]

    def run_from_argv(self, argv: list[str]) -> None:
        """Run; `unfollow sales.orders` is `follow stop sales.orders`."""
        line = argv[2:]
        if line and ASK_HELP.isdisjoint(line) and line[0] != "stop":
            line = ["stop", *line]
        super().run_from_argv([*argv[:2], *line])
