"""A client of Iceberg, down to its requests."""

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from django.conf import settings
from django.test import Client

from tests.functional.sharing_api.calls import Answer, Caller

TABLE = "/v1/namespaces/sales%1Fcrm/tables/orders"


def catalog(caller: Caller, path: str, method: str = "GET", **headers: str) -> Answer:
    """Ask the catalogue."""
    named = {"Authorization": f"Bearer {caller.secret}"} | headers
    return caller.client.generic(method, f"/iceberg{path}", headers=named)


def body(answer: Answer) -> Any:  # noqa: ANN401 (JSON)
    """The answer's JSON."""
    return json.loads(answer.content)


@dataclass
class S3:
    """A client of the objects, with the keys that came with a table."""

    config: dict[str, str]
    client: Client = field(
        default_factory=lambda: Client(raise_request_exception=False)
    )

    def ask(
        self, location: str, method: str = "GET", query: str = "", **headers: str
    ) -> Answer:
        """Ask for an object, signed."""
        parts = urlsplit(location)
        url = f"{settings.PUBLIC_URL}/{parts.netloc}{parts.path}"
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        request = AWSRequest(method, f"{url}{query}", headers=named)
        keys = Credentials(
            self.config["s3.access-key-id"],
            self.config["s3.secret-access-key"],
            self.config["s3.session-token"],
        )
        S3SigV4Auth(keys, "s3", self.config["s3.region"]).add_auth(request)
        target = urlsplit(url).path
        return self.client.generic(
            method, f"{target}{query}", headers=dict(request.headers.items())
        )


def loaded(caller: Caller, table: str = TABLE) -> tuple[Any, S3]:
    """The metadata of a table, and a client of its objects."""
    answer = catalog(caller, table)
    assert answer.status_code == 200, answer.content
    found = body(answer)
    return found["metadata"], S3(found["config"])
