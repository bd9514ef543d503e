"""`deltaweb share ...`: what is shared."""

from django.utils import timezone

from apps.pages.actions import command_stamp
from apps.pages.changes.command import ChangesCommand
from apps.pages.command import (
    YES,
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
from deltaweb.words import counted

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
    help = (
        "Shares: create, add-table, add-schema, narrow, prepare, list, show, on, off, "
        "remove-table, remove-schema, delete."
    )

    @subcommand(
        "add-schema",
        "share a namespace whole",
        SHARE,
        argument("schema", help="its name for recipients"),
        argument(
            "--namespace",
            required=True,
            metavar="NS",
            help="the namespace: its tables, and those that come",
        ),
        flag("--no-history", "share newest versions alone"),
    )
    def add_schema(
        self, *, share: str, schema: str, namespace: str, no_history: bool
    ) -> Output:
        found = find_share(share)
        added = schemas.add_schema(
            found,
            schema=schema,
            namespace=namespace,
            with_history=not no_history,
            stamp=command_stamp(),
        )
        resources = schemas.schema_resources(found)
        shown = next(one for one in resources if one.id == added.id)
        for left in shown.unshared:
            self.warn(f"{left.table} is not shared: {left.reason}.")
        text = (
            f"{found.name} has {namespace} as {added.schema}: "
            f"{counted(shown.num_tables, 'table')} by now, and each that comes."
        )
        return Output(shown, text)

    @subcommand("remove-schema", "take a schema out", SHARE, argument("schema"), YES)
    def remove_schema(self, *, share: str, schema: str, yes: bool) -> Output:
        found = schemas.find_schema(find_share(share), schema)
        name = found.share.name
        self.confirm(f"Remove the whole schema {found.schema} from {name}?", yes=yes)
        schemas.remove_schema(found, stamp=command_stamp())
        data = {"share": name, "schema": found.schema, "removed": True}
        return Output(data, f"Removed the whole schema {found.schema} from {name}.")

    @subcommand(
        "prepare",
        "prepare what recipients read in part",
        NAME_OF_SHARE,
        flag(
            "--prove",
            "read all that recipients get, and count the rows outside of the rule",
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
            return Output([], f"Nobody may read {share.name} yet: nothing to prepare.")
        if not found:
            return Output([], f"All of {share.name} is shared as it is.")
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
