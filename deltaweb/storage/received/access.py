"""The token that a provider is asked with: of the profile, or from a token endpoint.

Source: RFC 6749, 4.4 "Client Credentials Grant", 2.3.1 "Client Password".
"""

import threading
import time
from base64 import b64encode
from functools import lru_cache
from typing import Any, Final
from urllib.parse import quote_plus, urlencode

from deltaweb.environment.bounded_json import parse_json
from deltaweb.storage.received.budget import LookBudget
from deltaweb.storage.received.errors import ProviderAnswerError, ProviderRefusedError
from deltaweb.storage.received.numbers import whole
from deltaweb.storage.received.patience import PATIENT, HTTPRequest
from deltaweb.storage.received.profile import TOKEN, OAuthClient
from deltaweb.storage.received.transport import HTTPAnswer, Transport

MAX_ANSWER_BYTES: Final = 1 << 20
USUAL_S: Final = 300  # that a token is kept whose answer does not say how long it holds
SPARE_S: Final = 60  # by which a token is renewed before it ends
_OK, _SERVER = 200, 500
_REFUSED: Final = frozenset({400, 401, 403})


class AccessToken:
    """The newest access token of one OAuth client."""

    def __init__(self, client: OAuthClient) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._text, self._renew_at_s = "", 0.0

    def get(self, transport: Transport, budget: LookBudget) -> str:
        """Return a token that still holds, a new one where it is needed.

        Raises:
            ProviderRefusedError: If the token endpoint refuses the client.
            ProviderAnswerError: If it answers something else than a token.
        """
        with self._lock:
            text, is_fresh = self._text, time.monotonic() < self._renew_at_s
        if is_fresh:
            return text
        started_s = time.monotonic()
        text, lifetime_s = self._fetch(transport, budget)
        spare_s = min(SPARE_S, lifetime_s / 4)
        with self._lock:
            self._text, self._renew_at_s = text, started_s + lifetime_s - spare_s
        return text

    def forget(self, text: str) -> None:
        """Drop a token that was refused, unless there is a newer one."""
        with self._lock:
            if self._text == text:
                self._renew_at_s = 0.0

    def _fetch(self, transport: Transport, budget: LookBudget) -> tuple[str, float]:
        """Return a new token, and for how many seconds it holds."""
        client = self._client
        form = {"grant_type": "client_credentials"}
        form |= {"scope": client.scope} if client.scope else {}
        # Most clients send both parts unescaped, and RFC 6749 escapes them.
        plain = f"{client.client_id}:{client.client_secret}"
        escaped = ":".join(map(quote_plus, (client.client_id, client.client_secret)))
        for proof in dict.fromkeys((plain, escaped)):
            request = HTTPRequest(
                "POST",
                client.token_endpoint,
                headers={
                    "Accept": "application/json",
                    "Authorization": f"Basic {b64encode(proof.encode()).decode()}",
                    "Content-Type": "application/x-www-form-urlencoded",
                },
                body=urlencode(form).encode(),
                max_bytes=MAX_ANSWER_BYTES,
                retries=PATIENT,
            )
            answer = transport.ask(request, budget)
            if answer.status not in _REFUSED:
                break
        return self._parsed(answer, budget.provider)

    def _parsed(self, answer: HTTPAnswer, provider: str) -> tuple[str, float]:
        if answer.status in _REFUSED:
            raise ProviderRefusedError(
                provider=provider, status=answer.status, what="OAuth client"
            )
        if answer.status != _OK:
            reason = f"its token endpoint answers with HTTP {answer.status}"
            raise ProviderAnswerError(provider=provider, reason=reason)
        try:
            fields: Any = parse_json(answer.body)
            text, kind = fields["access_token"], fields.get("token_type", "Bearer")
            is_token = TOKEN.fullmatch(text) and kind.lower() == "bearer"
        except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
            is_token = None
        if not is_token:
            reason = "its token endpoint does not answer with a bearer token"
            raise ProviderAnswerError(provider=provider, reason=reason)
        lifetime_s = whole(fields.get("expires_in"))
        return text, USUAL_S if lifetime_s is None else lifetime_s


@lru_cache(maxsize=256)
def access_token_of(client: OAuthClient) -> AccessToken:
    """Return the token of a client, which all looks of a process share."""
    return AccessToken(client)
