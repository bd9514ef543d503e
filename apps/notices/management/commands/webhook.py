"""`deltaweb webhook ...`: addresses that get events as signed requests."""

from collections.abc import Sequence

from apps.notices.changes import webhooks
from apps.notices.changes.follows import NewFollow, follow_also
from apps.notices.management.people import FOR, person, subject_named
from apps.notices.models import Webhook
from apps.pages.actions import command_stamp
from apps.pages.changes.change import Nothing
from apps.pages.command import Output, SubcommandsCommand, argument, flag, subcommand
from apps.pages.request.changes import UNCHANGED
from deltaweb.environment.command_lines import COMMANDS

WEBHOOK = argument(
    "webhook", metavar="WEBHOOK", help="its id, or its host if no other one has it"
)


class Command(SubcommandsCommand):
    """Webhooks of all people."""

    help = COMMANDS["webhook"]

    @subcommand(
        "add",
        "add an address; its secret is printed once",
        argument("url", metavar="URL"),
        FOR,
        argument(
            "--follow",
            action="append",
            dest="targets",
            metavar="WHAT",
            help="a table, or a namespace such as sales.*, to send events of; "
            "repeatable",
        ),
        argument(
            "--kind",
            action="append",
            dest="kinds",
            metavar="KIND",
            help="a kind of event; repeatable; default: all but new versions",
        ),
        flag("--breaking", "send versions and schema changes only if they break"),
    )
    def add(
        self,
        *,
        url: str,
        user: str | None,
        targets: Sequence[str] | None,
        kinds: Sequence[str] | None,
        breaking: bool,
    ) -> Output:
        owner, stamp = person(user), command_stamp()
        new = webhooks.NewWebhook(url=url, breaking_only=breaking)
        added = webhooks.add(owner, new, stamp)
        for target in targets or ():
            subject, name = subject_named(target)
            follow = NewFollow(
                subject=subject,
                name=name,
                kinds=UNCHANGED if kinds is None else list(kinds),
                breaking_only=breaking,
                bell=False,
                webhooks=[str(added.resource.id)],
            )
            follow_also(owner, follow, stamp)
        return Output(added, f"Added {added.resource.id}. Its secret: {added.secret}")

    @subcommand("list", "list the webhooks")
    def list_webhooks(self) -> Output:
        rows = Webhook.objects.select_related("user").order_by("created_at", "id")
        found = [webhooks.webhook_resource(one) for one in rows]
        lines = [
            f"{one.id}  {one.user:<16} {one.host:<32} "
            + (f"paused, {one.num_waiting:,} wait" if one.paused_at else "active")
            for one in found
        ]
        text = "" if lines else "No webhooks. Add one with: deltaweb webhook add URL"
        return Output(text=text, lines=lines, data=webhooks.Webhooks(webhooks=found))

    @subcommand("test", "send a test", WEBHOOK)
    def test(self, *, webhook: str) -> Output:
        found = webhooks.find_webhook(webhook)
        sent = webhooks.send_test(found, Nothing(), command_stamp())
        return Output(sent, f"A test is sent to {sent.host}.")

    @subcommand("resume", "send the events that wait for a paused webhook", WEBHOOK)
    def resume(self, *, webhook: str) -> Output:
        found = webhooks.find_webhook(webhook)
        resumed = webhooks.resume(found, Nothing(), command_stamp())
        return Output(resumed, f"{resumed.host} gets {resumed.num_waiting:,} events.")

    @subcommand("remove", "remove a webhook and its log", WEBHOOK)
    def remove(self, *, webhook: str) -> Output:
        found = webhooks.find_webhook(webhook)
        removed = webhooks.remove(found, Nothing(), command_stamp())
        return Output(removed, f"Removed {removed.host}.")
