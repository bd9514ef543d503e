"""`deltaweb follow ...`: what people follow."""

from collections.abc import Sequence

from apps.notices.changes.follows import NewFollow, begin, find_follow, stop
from apps.notices.events.kind import event_kinds
from apps.notices.following.resource import Following, FollowResource, follow_resources
from apps.notices.management.people import FOR, person, subject_named
from apps.notices.models import Follow
from apps.pages.actions import command_stamp
from apps.pages.changes.change import Nothing
from apps.pages.command import Output, SubcommandsCommand, argument, flag, subcommand
from apps.pages.request.changes import UNCHANGED
from deltaweb.environment.command_lines import ASK_HELP, COMMANDS, first_word

BEGIN = "begin"
TARGET = argument(
    "target",
    metavar="WHAT",
    help="a table, a namespace such as sales.*, owned, share:NAME or recipient:NAME",
)


class Command(SubcommandsCommand):
    """A line without a subcommand follows what it names."""

    help = COMMANDS["follow"]

    def run_from_argv(self, argv: list[str]) -> None:
        """Run; `follow sales.orders` is `follow begin sales.orders`."""
        line = argv[2:]
        word = first_word(line)
        is_help = not word and not {*ASK_HELP, "--version"}.isdisjoint(line)
        begins = [] if is_help or not word or self.knows(word) else [BEGIN]
        super().run_from_argv([*argv[:2], *begins, *line])

    @subcommand(
        BEGIN,
        "follow a table, a namespace, a share or a recipient",
        TARGET,
        FOR,
        argument(
            "--kind",
            action="append",
            dest="kinds",
            metavar="KIND",
            help="a kind of event, such as table.schema; repeatable; default: all "
            "but new versions",
        ),
        flag("--breaking", "hear of versions and schema changes only if they break"),
        flag("--mail", "also send mail"),
        argument(
            "--often",
            choices=Follow.Often.values,
            default=Follow.Often.ONCE.value,
            help="how often mail is sent",
        ),
        argument(
            "--webhook",
            action="append",
            dest="webhooks",
            metavar="ID",
            help="a webhook of the person that gets the events; repeatable",
        ),
    )
    def begin_to_follow(  # noqa: PLR0913 (as the line has them)
        self,
        *,
        target: str,
        user: str | None,
        kinds: Sequence[str] | None,
        breaking: bool,
        mail: bool,
        often: str,
        webhooks: Sequence[str] | None,
    ) -> Output:
        subject, name = subject_named(target)
        new = NewFollow(
            subject=subject,
            name=name,
            kinds=UNCHANGED if kinds is None else list(kinds),
            breaking_only=breaking,
            mail=mail,
            often=often,  # type: ignore[arg-type]  # argparse has checked it
            webhooks=UNCHANGED if webhooks is None else list(webhooks),
        )
        found = begin(person(user), new, command_stamp())
        return Output(found, f"{found.user} follows {found.name}.")

    @subcommand("list", "list what people follow", FOR)
    def list_follows(self, *, user: str | None) -> Output:
        rows = Follow.objects.select_related("user").prefetch_related("webhooks")
        if user:
            rows = rows.filter(user=person(user))
        found = follow_resources(rows.order_by("user__username", "subject_name"))
        lines = [_line(one) for one in found]
        text = (
            "" if lines else "Nobody follows anything. Begin with: deltaweb follow NAME"
        )
        return Output(text=text, lines=lines, data=Following(follows=found))

    @subcommand("kinds", "list the kinds of events")
    def list_kinds(self) -> Output:
        kinds = sorted(event_kinds().values(), key=lambda one: one.name)
        data = {one.name: one.help for one in kinds}
        lines = [f"{name:<24} {said}" for name, said in data.items()]
        return Output(lines=lines, data=data)

    @subcommand("stop", "stop following, as `deltaweb unfollow` does", TARGET, FOR)
    def stop_following(self, *, target: str, user: str | None) -> Output:
        follow = find_follow(person(user), *subject_named(target))
        found = stop(follow, Nothing(), command_stamp())
        return Output(found, f"{found.user} does not follow {found.name} any more.")


def _line(one: FollowResource) -> str:
    channels = [
        *(["bell"] if one.bell else []),
        *([f"mail {one.often}"] if one.mail else []),
        *(["webhook"] if one.webhooks else []),
    ]
    only = " (breaking only)" if one.breaking_only else ""
    kinds = ", ".join(one.kinds)
    return f"{one.user:<16} {one.name:<32} {', '.join(channels):<20} {kinds}{only}"
