"""`deltaweb namespace ...`: their description, their owner, and who can see them."""

from apps.pages.changes.command import ChangesCommand
from apps.pages.command import Output, argument, subcommand
from apps.tables.access.namespaces import (
    existing_namespace,
    namespace_resources,
    said_of_namespace,
)
from apps.tables.management import text_output
from apps.tables.models import Namespace
from deltaweb.environment.command_lines import COMMANDS


class Command(ChangesCommand):
    """Makes the changes that the page *Access* of a namespace makes."""

    noun = "namespace"
    names_of = {
        "namespace-not-found": lambda: Namespace.objects.values_list("name", flat=True)
    }
    help = COMMANDS["namespace"]

    @subcommand("list", "list the namespaces")
    def list_namespaces(self) -> Output:
        found = [*namespace_resources(Namespace.objects.select_related("owned_by"))]
        rows = [
            (
                one.on,
                "private" if one.private else "open",
                "listed" if one.listed else "",
                str(one.num_tables),
                one.owner or "",
            )
            for one in found
        ]
        titles = ("NAMESPACE", "ACCESS", "REQUESTS", "TABLES", "OWNER")
        none = ["No namespaces yet: the first table makes one."]
        return Output(found, lines=text_output.aligned(titles, rows) if rows else none)

    @subcommand("show", "show a namespace", argument("name", help="sales, or sales.*"))
    def show(self, name: str) -> Output:
        found = next(namespace_resources([existing_namespace(name)]))
        lines = [found.description] if found.description else []
        return Output(found, said_of_namespace(found), lines)
