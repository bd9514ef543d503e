"""Recipients with a browser, and what their page answers."""

import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.test import Client

from apps.jobs.models import Job
from apps.sharing.access.waited_queries import READ_ROWS
from apps.sharing.models import BrowserSession, Recipient, RecipientToken, SharedTable
from tests.support.pages.operated import worked

OWN = {"Sec-Fetch-Site": "same-origin"}
Answer = Any  # of Django's test client


@dataclass
class Visitor:
    """A recipient's browser."""

    token: RecipientToken
    secret: str
    client: Client = field(
        default_factory=lambda: Client(raise_request_exception=False)
    )

    @property
    def recipient(self) -> Recipient:
        return self.token.recipient

    @property
    def cookie(self) -> str:
        """The secret of the session; "" without one."""
        morsel = self.client.cookies.get(settings.RECIPIENT_COOKIE_NAME)
        return morsel.value if morsel else ""

    @property
    def session(self) -> BrowserSession:
        """The newest session of the token."""
        return self.token.browser_sessions.latest("opened_at")

    def sign_in(self, token: str | None = None, **headers: str) -> Answer:
        """Send the form that signs in."""
        sent = self.secret if token is None else token
        return self.client.post(
            "/portal/sign-in", {"token": sent}, headers=headers or OWN
        )

    def get(self, path: str = "/portal/", **options: Any) -> Answer:  # noqa: ANN401 (of a client)
        """GET a page."""
        return self.client.get(path, **options)

    def post(self, path: str, form: dict[str, Any] | None = None) -> Answer:
        """Send a form of the page of a table, as the browser does."""
        sent = {"form": self.form_token(), **(form or {})}
        return self.client.post(path, sent, headers=OWN)

    def form_token(self) -> str:
        """What the forms of the page send along."""
        text = self.get().content.decode()
        found = re.search(r'name="form" value="([0-9a-f]+)"', text)
        assert found is not None, text
        return found[1]

    def rows(self, shared: SharedTable, query: str = "") -> list[list[str]]:
        """The rows of a page of a table, as texts, once its job is done."""
        path = f"{path_of(shared)}{query}"
        answer = self.get(path)
        assert answer.status_code == 200, answer.content.decode()
        if "Reading rows" in answer.content.decode():
            work()
            answer = self.get(path)
        return cells(answer)


def work() -> None:
    """Do the readings that wait."""
    for job in Job.objects.active().filter(kind=READ_ROWS):
        worked(job)


def path_of(shared: SharedTable) -> str:
    """The address of the page of a table."""
    names = (shared.share.name, shared.schema, shared.name)
    return "/portal/t/" + "/".join(quote(name, safe="") for name in names)


def text_of(answer: Answer) -> str:
    """The words of a page."""
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def cells(answer: Answer) -> list[list[str]]:
    """The cells of the grid of a page."""
    grid = re.search(r'<table class="dw-table dw-grid-t">.*?</table>', _text(answer))
    if grid is None:
        return []
    return [
        [re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<td.*?</td>", line)]
        for line in re.findall(r"<tr[^>]*>(?:(?!<th).)*?</tr>", grid[0])
    ]


def _text(answer: Answer) -> str:
    return " ".join(answer.content.decode().split())
