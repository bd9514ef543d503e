"""Calls of REST that a process is held in, and killed; a nursery begins them.

work     uploads a file, and stays within the call until it is killed
answer   does the same without waiting; `key` makes the key, `lease` shows its end
"""

import sys
from pathlib import Path
from threading import Event
from typing import Any, Final

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

ONCE: Final = "an idempotency key"


def work(key: str, mark: str) -> None:
    """Upload a file; the folder that it is kept in leaves a mark, and is never made."""

    def wait(event: str, arguments: tuple[object, ...]) -> None:
        if event == "os.mkdir" and "/uploads/" in str(arguments[0]):
            Path(mark).touch()
            Event().wait()

    sys.addaudithook(wait)
    upload(key)


def answer(*words: str) -> Any:  # noqa: ANN401 (any document)
    """Do what is asked."""
    match words:
        case ["key"]:
            return new_key()
        case ["lease"]:
            from apps.api.models import KeptAnswer

            return KeptAnswer.objects.get().leased_until.timestamp()
        case [key]:
            return upload(key)
    raise AssertionError(words)


def new_key() -> str:
    """Make an editor, and a key for it."""
    from apps.accounts import services
    from apps.pages.actions import command_stamp

    stamp = command_stamp()
    user = services.create_user(name="eve", role="editor", stamp=stamp)
    return services.issue_api_key(user=user, name="script", stamp=stamp).secret


def upload(key: str) -> tuple[int, str]:
    """Upload a file once; return the status and the code of a refusal."""
    client = Client(headers={"Host": "127.0.0.1", "Authorization": f"Bearer {key}"})
    file = SimpleUploadedFile("rows.csv", b"a,b\n1,2\n")
    answer = client.post(
        "/api/v1/uploads", {"file": file}, headers={"Idempotency-Key": ONCE}
    )
    return answer.status_code, answer.json().get("error", "")
