"""`deltaweb user ...`: the accounts of this installation."""

from django.utils import timezone

from apps.accounts import selectors
from apps.accounts.changes.invitations.resource import (
    invitation_resources,
    open_invitations,
)
from apps.accounts.models import Invitation, User
from apps.pages.changes.command import ChangesCommand
from apps.pages.command import Output, subcommand
from deltaweb.environment.command_lines import COMMANDS


class Command(ChangesCommand):
    """What is read of users; the rest are changes."""

    noun = "user"
    names_of = {
        "user-not-found": lambda: User.objects.values_list("username", flat=True),
        "invitation-not-found": lambda: Invitation.objects.values_list(
            "email", flat=True
        ),
    }
    help = COMMANDS["user"]

    @subcommand("list", "list the users")
    def list_users(self) -> Output:
        found = User.objects.order_by("username")
        users = list(selectors.user_resources(found, now=timezone.now()))
        lines = [
            f"{one.name:<24} {one.role:<8} {'active' if one.active else 'disabled'}"
            for one in users
        ]
        if users:
            lines.insert(0, f"{'NAME':<24} {'ROLE':<8} STATE")
        text = (
            ""
            if users
            else "No users yet. Add one with: deltaweb user add NAME --role ROLE"
        )
        return Output(text=text, lines=lines, data=users)

    @subcommand("invitations", "list the open invitations")
    def list_invitations(self) -> Output:
        found = open_invitations(timezone.now()).order_by("expires_at", "email")
        rows = list(invitation_resources(found))
        lines = [
            f"{one.email:<32} {one.role:<8} {one.expires_at:%Y-%m-%d %H:%M}"
            f"  {one.invited_by}"
            for one in rows
        ]
        if rows:
            lines.insert(0, f"{'E-MAIL':<32} {'ROLE':<8} {'EXPIRES (UTC)':<17} BY")
        text = "" if rows else "No open invitation. Make one with: deltaweb user invite"
        return Output(text=text, lines=lines, data=rows)
