"""Pages of sharing as an administrator asks for them, and a form's two answers."""

import json
import re
from typing import Any

from django.test import Client

from apps.audit.models import AuditEvent
from apps.sharing.models import Share
from tests.support.pages.factories import new_call

HTMX = {"HX-Request": "true"}


def page(client: Client, path: str, **query: str) -> str:
    """A page that is there, on one line."""
    answer = client.get(path, query)
    assert answer.status_code == 200, answer.content.decode()
    return re.sub(r"\s+", " ", answer.content.decode())


def as_json(client: Client, path: str, **query: str) -> Any:  # noqa: ANN401 (any document)
    """The document that a script is given."""
    return json.loads(page(client, path, **query))


def posted(client: Client, path: str, **fields: str) -> str:
    """The page that a successful form leads to."""
    answer = client.post(path, fields, follow=True)
    assert answer.redirect_chain, answer.content.decode()
    return re.sub(r"\s+", " ", answer.content.decode())


def refused(client: Client, path: str, **fields: str) -> str:
    """The same page with what was wrong."""
    answer = client.post(path, fields)
    assert answer.status_code == 422, answer.content.decode()
    return re.sub(r"\s+", " ", answer.content.decode()).replace("&#x27;", "'")


def new_read(share: Share, **fields: Any) -> AuditEvent:  # noqa: ANN401 (columns)
    """A query of a table of a share, just now."""
    return new_call(**{"share": share.name, "size_bytes": 1024, **fields})
