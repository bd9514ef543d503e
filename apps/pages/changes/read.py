"""What the REST API reads of a subject: the JSON form of a page.

READS = register_reads(
Read("recipients", "RecipientList", page="sharing:recipient-list",
shows=RECIPIENTS, help="List recipients.", role=ADMIN),
)
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from apps.pages.registry import Registry
from apps.pages.request.list_page import ListPage


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A GET of the REST API: the JSON form of a page, or an answer of its own.

    Attributes:
        route: Its path, as `Call` has it.
        view: The name of its address in OpenAPI, as `Call` has it.
        page: The URL name of the page, with its app; "" without one.
        finds: Returns the answer by the names in the route, if there is no page. It may
            take `CALLER`, as `Subject.find` does.
        shows: The list, or the dataclass of the page or the answer.
        waits: Whether it answers 202 while a job is at what the page shows.
        without: Parameters of the page's address that are for its HTML alone.
        help: What it does, in a sentence that begins with a verb.
        role: The role that a user needs at least.
        scope: The scope that an API key needs; "" for reading.
    """

    route: str
    view: str
    page: str = ""
    finds: Callable[..., object] | None = None
    shows: type | ListPage[Any]
    waits: bool = False
    without: str = ""
    help: str
    role: str
    scope: str = ""


reads: Final[Registry[Read]] = Registry(key=lambda one: one.route)
"""Those of all subjects whose modules are loaded."""
