"""What the REST API reads of a subject: the JSON form of a page.

READS = register_reads(
Read("recipients", "RecipientList", page="sharing:recipient-list",
shows=RECIPIENTS, help="List recipients.", role=ADMIN),
)
"""

from dataclasses import dataclass
from typing import Any, Final

from apps.pages.registry import Registry
from apps.pages.request.list_page import ListPage


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A GET of the REST API.

    Attributes:
        route: Its path, as `Call` has it.
        view: The name of its address in OpenAPI, as `Call` has it.
        page: The URL name of the page, with its app.
        shows: The list, or the dataclass of the page.
        help: What it does, in a sentence that begins with a verb.
        role: The role that a user needs at least.
        scope: The scope that an API key needs; "" for reading.
    """

    route: str
    view: str
    page: str
    shows: type | ListPage[Any]
    help: str
    role: str
    scope: str = ""


reads: Final[Registry[Read]] = Registry(key=lambda one: one.route)
"""Those of all subjects whose modules are loaded."""
