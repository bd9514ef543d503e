"""What an endpoint answers; and calls that may be repeated.

One with the same `Idempotency-Key` is done once. A key is taken before its call is
done and given back if that is refused, so a call that was put right may have it again.
Of two at once one is done, the other told so. The key is leased, and the process that
answers renews the lease: if that process is killed, the same request may be sent again
once the lease has ended. An answer that holds a secret is not kept: the repeated call
is told that it was given.

Source: draft-ietf-httpapi-idempotency-key-header.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final

from django.conf import settings
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils import timezone

from apps.accounts.permissions import signed_in
from apps.api.errors import (
    IdempotencyKeyInvalidError,
    IdempotencyKeyReusedError,
    SecretGivenError,
    StillAnsweredError,
)
from apps.api.models import KEPT_FOR, MAX_KEY_LENGTH, KeptAnswer
from apps.jobs.running.renewal import renewing
from apps.pages.responses import json_response


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that is not simply what the endpoint has found.

    Attributes:
        data: The body; None for an empty one.
        status: Of HTTP.
        headers: Further headers.
        about: Of an answer that holds a secret, what may be said of it later: a call
            that is repeated is told this instead, for the answer is kept nowhere.
    """

    data: object
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    about: Mapping[str, str] | None = None


def response_of(answer: Answer | HttpResponseBase) -> HttpResponseBase:
    """Return an answer as a response of HTTP."""
    if isinstance(answer, HttpResponseBase):
        return answer
    if answer.data is None:
        response = HttpResponse(status=answer.status)
    else:
        response = json_response(answer.data, status=answer.status)
    for name, value in answer.headers.items():
        response[name] = value
    return response


# === Calls that may be repeated ===


HEADER: Final = "Idempotency-Key"
REPLAYED: Final = "Idempotent-Replayed"
MULTIPART: Final = "multipart/form-data"
_KEPT_HEADERS: Final = ("Content-Type", "Location")
_FIRST_REFUSED: Final = 400


def answer_once(
    request: HttpRequest, call: Callable[[], Answer | HttpResponseBase]
) -> HttpResponseBase:
    """Answer a call; one that is repeated with its key is not done again."""
    key = request.headers.get(HEADER)
    if key is None or request.method != "POST":
        return response_of(call())
    if (
        not key
        or len(key) > MAX_KEY_LENGTH
        or not (key.isascii() and key.isprintable())
    ):
        raise IdempotencyKeyInvalidError(longest=MAX_KEY_LENGTH)
    digest = _digest(request)
    taken = _take(request, key, digest, now=timezone.now())
    if taken is None:
        return _again(request, key, digest)
    try:
        with renewing(lambda: _renew(taken), name=f"idempotency key {taken.pk}"):
            answer = call()
            response = response_of(answer)
    except BaseException:
        taken.delete()
        raise
    if response.status_code >= _FIRST_REFUSED or response.streaming:
        taken.delete()
    else:
        _keep(taken, answer, response)
    return response


def _take(
    request: HttpRequest, key: str, digest: str, *, now: datetime
) -> KeptAnswer | None:
    """Take a key for a call; None if another has it.

    A key whose lease ended without an answer is taken from the process that was killed.
    """
    unanswered = KeptAnswer.objects.filter(status=None)
    old = KeptAnswer.objects.filter(created_at__lt=now - KEPT_FOR)
    old.exclude(status=None, leased_until__gt=now).delete()
    facts = {"user": signed_in(request), "key": key, "request_sha256": digest}
    leased_until = now + _lease()
    is_free = True
    while is_free:
        try:
            with transaction.atomic():
                return KeptAnswer.objects.create(
                    **facts, created_at=now, leased_until=leased_until
                )
        except IntegrityError:
            ended = unanswered.filter(**facts, leased_until__lte=now)
            is_free = bool(ended.delete()[0])
    return None


def _renew(taken: KeptAnswer) -> bool:
    rows = KeptAnswer.objects.filter(pk=taken.pk, status=None)
    return bool(rows.update(leased_until=timezone.now() + _lease()))


def _lease() -> timedelta:
    return timedelta(seconds=settings.JOB_LEASE_S)


def _again(request: HttpRequest, key: str, digest: str) -> HttpResponse:
    kept = KeptAnswer.objects.filter(user=signed_in(request), key=key).first()
    if kept is None:  # it was refused meanwhile
        raise StillAnsweredError
    if kept.request_sha256 != digest:
        raise IdempotencyKeyReusedError
    if kept.status is None:
        raise StillAnsweredError
    if kept.had_secret:
        raise SecretGivenError(at=kept.created_at, facts=json.loads(kept.body))
    response = HttpResponse(kept.body, status=kept.status, headers=kept.headers)
    response[REPLAYED] = "true"
    return response


def _keep(
    taken: KeptAnswer, answer: Answer | HttpResponseBase, response: HttpResponseBase
) -> None:
    """Keep an answer, unless the lease ended and the key is another call's by now."""
    kept: dict[str, object] = {"status": response.status_code}
    if isinstance(answer, Answer) and answer.about is not None:
        kept |= {"had_secret": True, "body": json.dumps(dict(answer.about))}
    elif isinstance(response, HttpResponse):
        kept["headers"] = {
            name: response[name] for name in _KEPT_HEADERS if name in response
        }
        kept["body"] = response.content.decode()
    KeptAnswer.objects.filter(pk=taken.pk).update(**kept)


def _digest(request: HttpRequest) -> str:
    """Return what a repeated request has in common with the first."""
    digest = sha256(f"{request.method} {request.get_full_path()}\n".encode())
    if request.content_type != MULTIPART:
        digest.update(request.body)
        return digest.hexdigest()
    # What parts the parts is another text each time that they are sent.
    for file in (one for _, some in request.FILES.lists() for one in some):
        digest.update(f"{file.name}\n".encode())
        for chunk in file.chunks():
            digest.update(chunk)
        file.seek(0)
    return digest.hexdigest()
