"""The head of a table's page, drawn while the page waits for its job.

A page with the result of a job cannot be drawn before the job is over, its head can:
another process is at work meanwhile.
"""

from dataclasses import dataclass, field

from django.http import HttpRequest
from django.template.loader import render_to_string

from apps.tables.head.table_head import TableHead

TEMPLATE = "tables/head/_table_head.html"


@dataclass(slots=True, kw_only=True)
class DrawnHead:
    """A head that may be drawn before its page.

    Attributes:
        fmt: The form of the answer; only a whole page has a head.
        html: What was drawn; "" until then.
    """

    request: HttpRequest
    head: TableHead
    fmt: str
    html: str = field(default="", init=False)

    def draw(self) -> None:
        """Draw it, if the page will have it."""
        if self.fmt == "html" and "HX-Request" not in self.request.headers:
            self.html = render_to_string(TEMPLATE, {"head": self.head}, self.request)
