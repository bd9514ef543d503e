"""The REST API as a script calls it."""

from typing import Any

from django.test import Client

from apps.accounts import services
from apps.accounts.models import User
from apps.pages.actions import command_stamp
from tests.support.pages.factories import new_user

V1 = "/api/v1"


class Script:
    """Calls with a key of its own, by default one of an administrator for sharing."""

    def __init__(
        self, *scopes: str, role: str = User.Role.ADMIN, name: str = "ada"
    ) -> None:
        self.user = User.objects.named(name).first() or new_user(name, role=role)
        issued = services.issue_api_key(
            user=self.user, name="script", scopes=scopes, stamp=command_stamp()
        )
        self.secret = issued.secret
        self.headers = {"Authorization": f"Bearer {issued.secret}"}
        self.client = Client()

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,  # noqa: ANN401 (any JSON)
        *,
        once: str | None = None,
    ) -> Any:  # noqa: ANN401 (a response)
        """Send a body as JSON, and an idempotency key where one is given."""
        headers = {**self.headers, **({"Idempotency-Key": once} if once else {})}
        send = getattr(self.client, method.lower())
        if method in {"GET", "DELETE"}:
            return send(path, headers=headers)
        return send(path, body, content_type="application/json", headers=headers)

    def made(self, path: str, body: Any = None, *, method: str = "POST") -> Any:  # noqa: ANN401 (any JSON)
        """Return what a call answers that makes something."""
        answer = self.call(method, path, body or {})
        assert answer.status_code in {200, 201}, answer.content
        return answer.json()


def refusal(answer: Any) -> tuple[int, str]:  # noqa: ANN401 (a response)
    """The status of an answer that refuses, and the code of its error."""
    return answer.status_code, answer.json()["error"]
