"""`deltaweb share ...`: what is shared."""

from django.utils import timezone

from apps.pages.changes.command import ChangesCommand
from apps.pages.command import (
    Output,
    argument,
    flag,
    subcommand,
)
from apps.pages.page_json import json_with
from apps.sharing.access.grants.preparing import prepare_share
from apps.sharing.access.withdrawals import with_parts
from apps.sharing.activity.usage import calls
from apps.sharing.activity.use_resource import use_resource
from apps.sharing.management import sharing_output
from apps.sharing.models import Share
from apps.sharing.names import (
    find_share,
)
from apps.sharing.shares import schemas
from apps.sharing.shares.resources import (
    resource_of_share,
    share_resources,
    shared_table_resource,
)
from apps.tables.index.engine import Engine
from apps.tables.management.terminal import TerminalReports, add_engine
from apps.tables.management.text_output import listed
from apps.tables.models import Table
from deltaweb.environment.command_lines import COMMANDS

NAME = argument("name")
SHARE = argument("share")
NAME_OF_SHARE = argument("name", metavar="share")


class Command(ChangesCommand):
    """What is read of shares, and what is prepared; the rest are changes."""

    noun = "share"

    names_of = {
        "share-not-found": lambda: Share.objects.values_list("name", flat=True),
        "table-not-registered": lambda: [one.full_name for one in Table.objects.all()],
    }
    help = COMMANDS["share"]

    @subcommand(
        "prepare",
        "prepare the files of partly shared and of plain tables",
        NAME_OF_SHARE,
        flag(
            "--prove",
            "read what recipients get, and count the rows outside the condition",
        ),
        add_engine,
    )
    def prepare(self, *, name: str, engine: Engine | None, prove: bool) -> Output:
        share = find_share(name)
        reports = TerminalReports(self.warn)
        found = prepare_share(
            share, reports=reports, engine=engine, proves=prove, now=timezone.now()
        )
        if not share.recipients.exists():
            return Output(
                [],
                (
                    f"No recipient can read {share.name} yet, so there is nothing to "
                    "prepare."
                ),
            )
        if not found:
            return Output(
                [],
                (
                    f"No table of {share.name} is shared in part or as plain files, "
                    "so there is nothing to prepare."
                ),
            )
        return Output(
            [json_with(one) for one in found],
            lines=listed(found, sharing_output.PREPARED_COLUMNS),
        )

    @subcommand("list", "list the shares")
    def list_shares(self) -> Output:
        found = list(share_resources(Share.objects.all()))
        if not found:
            return Output(found, "No shares yet: share create NAME")
        return Output(found, lines=listed(found, sharing_output.SHARE_COLUMNS))

    @subcommand("show", "show a share: its tables and recipients", NAME)
    def show(self, *, name: str) -> Output:
        share = find_share(name)
        whole = schemas.schema_resources(share)
        shown = resource_of_share(share)
        use = use_resource(calls(share=share.name), now=timezone.now())
        shared = share.shared_tables.select_related("table", "share", "from_schema")
        tables = [shared_table_resource(table) for table in with_parts(shared)]
        text = sharing_output.share_text(shown, use)
        lines = [
            *sharing_output.schema_lines(whole),
            *sharing_output.shared_table_lines(tables),
        ]
        data = json_with(shown, schemas=whole, tables=tables, use=use)
        return Output(data, text, lines)
