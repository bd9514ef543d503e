"""Pages of the catalogue as a reader, a script and a spreadsheet ask for them."""

import csv
import io
import json
from typing import Any

from django.test import Client


def text(client: Client, path: str, **query: str) -> str:
    """A page that is there."""
    answer = client.get(path, query, follow=True)
    assert answer.status_code == 200, answer.content.decode()
    return answer.content.decode()


def as_json(client: Client, path: str, **query: str) -> Any:  # noqa: ANN401 (any document)
    """The document that a script is given."""
    return json.loads(text(client, path, **query))


def as_csv(client: Client, path: str, **query: str) -> list[list[str]]:
    """The rows that a spreadsheet is given, the header first."""
    answer = client.get(path, query)
    assert answer["Content-Type"] == "text/csv"
    return list(csv.reader(io.StringIO(answer.getvalue().decode())))
