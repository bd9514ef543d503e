"""`deltaweb received ...`: what others share with us."""

from django.utils import timezone

from apps.pages.changes.command import ChangesCommand
from apps.pages.command import (
    Output,
    subcommand,
)
from apps.pages.page_json import json_with
from apps.sharing.shares.received.listing import (
    ProviderRow,
    provider_rows,
)
from apps.sharing.shares.received.services import (
    providers,
)
from apps.tables.management.text_output import aligned, time_text
from deltaweb.environment.command_lines import COMMANDS


class Command(ChangesCommand):
    """A token goes in and never comes out: lists have its end alone."""

    noun = "received"
    names_of = {"provider-not-found": lambda: [one.name for one in providers()]}
    help = COMMANDS["received"]

    @subcommand("list", "list the providers and their tables")
    def list_received(self) -> Output:
        rows = list(provider_rows(now=timezone.now()))
        if not rows:
            return Output([], "No received shares yet: received add NAME profile.share")
        lines = aligned(
            ("PROVIDER", "TABLE", "VERSION", "REGISTERED AS", ""),
            [
                (
                    row.resource.name,
                    table.name,
                    "" if table.version is None else str(table.version),
                    table.table,
                    "" if table.withdrawn_at is None else "withdrawn",
                )
                for row in rows
                for table in row.tables
            ],
        )
        heads = [_head(row) for row in rows]
        return Output([json_with(row) for row in rows], lines=[*heads, "", *lines])


def _head(row: ProviderRow) -> str:
    one = row.resource
    ends = f", until {time_text(one.token_expires_at)}" if one.token_expires_at else ""
    key = f"client {one.client_id}" if one.client_id else f"token …{one.token_end}"
    return f"{one.name}: {one.endpoint}, {key}{ends}, {one.state}"
