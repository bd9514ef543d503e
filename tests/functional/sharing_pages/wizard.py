"""The steps of the wizard that makes a share, as its buttons are pressed."""

import json
import re
from typing import Any

from django.test import Client

from apps.tables.models import Table
from tests.functional.sharing_pages.pages import page

NEW = "/shares/new"


def step(client: Client, name: str, **query: str) -> str:
    return page(client, NEW, step=name, **query).replace("&#x27;", "'")


def draft(client: Client) -> Any:  # noqa: ANN401 (any document)
    return json.loads(client.get(f"{NEW}.json").content)["draft"]


def go(client: Client, at: str, action: str, /, **fields: Any) -> str:  # noqa: ANN401 (form)
    """Where a button of a step leads."""
    answer = client.post(NEW, {"step": at, "action": action, **fields})
    assert answer.status_code == 302, answer.content.decode()
    return str(answer["Location"])


def stays(client: Client, at: str, action: str, /, **fields: Any) -> str:  # noqa: ANN401 (form)
    """The step again, with what was wrong."""
    answer = client.post(NEW, {"step": at, "action": action, **fields})
    assert answer.status_code == 422, answer["Location"]
    return re.sub(r"\s+", " ", answer.content.decode()).replace("&#x27;", "'")


def typed(table: Table, place: int = 0, /, **fields: str) -> dict[str, str]:
    """What the fields of a chosen table hold."""
    values = {
        "id": str(table.id),
        "schema": table.namespace,
        "name": table.name,
        "with_history": "on",
        "start_version": "",
        "condition": "",
        **fields,
    }
    return {f"t{place}-{name}": text for name, text in values.items() if text}
