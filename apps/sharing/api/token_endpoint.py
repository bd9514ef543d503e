"""The token endpoint: OAuth clients trade what they have for a token of an hour.

An error has the members of RFC 6749 beside those of the protocol, so that clients of
either kind can read it.

Source: RFC 6749, sections 4.4 and 5; RFC 7523, section 2.1.
"""

import base64
import binascii
from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qsl, unquote_plus

from django.http import HttpResponseBase
from rest_framework.request import Request

from apps.sharing.access import callers as access
from apps.sharing.access import oauth
from apps.sharing.api import throttling
from apps.sharing.api.authentication import oauth_server
from apps.sharing.api.base import ProtocolView
from apps.sharing.api.errors import Failure
from apps.sharing.api.request_body import read_body
from apps.sharing.api.responses import WholeAnswer, json_answer
from deltaweb.sharing.oauth.errors import ClientRefusedError, OAuthRequestError

MAX_FORM_BYTES: Final = 64 << 10
MAX_FIELDS: Final = 50
_BASIC: Final = "basic"


class TokenEndpointView(ProtocolView):
    """POST oauth/token."""

    action = "oauth.token"
    http_method_names = ["post"]

    def post(self, request: Request) -> HttpResponseBase:
        """Answer with an access token."""
        server = oauth_server()
        form = _form(read_body(request, limit_bytes=MAX_FORM_BYTES))
        basic = _basic(request.headers.get("Authorization", ""))
        client = oauth.client_of_request(form, server, basic=basic, now=self.now)
        self.record.token = client
        access.check_live(client, now=self.now)
        access.check_address(client.recipient, self.record.address)
        throttling.check_rate(client.id)
        token, lifetime_s = oauth.access_token(client, server, now=self.now)
        answer = json_answer(
            {"access_token": token, "token_type": "Bearer", "expires_in": lifetime_s}
        )
        answer["Pragma"] = "no-cache"
        return answer

    def refusal(self, failure: Failure, error: Exception) -> WholeAnswer:
        """Return a failure in both forms."""
        if isinstance(error, OAuthRequestError):
            name = error.oauth_error
        elif failure.status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
            name = ClientRefusedError.oauth_error
        elif failure.is_fault:
            name = "server_error"
        else:
            name = OAuthRequestError.oauth_error
        body = {
            "error": name,
            "error_description": failure.message,
            "errorCode": failure.error_code,
            "message": failure.message,
        }
        answer = json_answer(body, status=failure.status)
        for header, value in failure.headers.items():
            answer[header] = value
        return answer


def _form(body: bytes) -> dict[str, str]:
    """Return the fields of a form, each of which may come once."""
    try:
        fields = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=MAX_FIELDS,
        )
    except ValueError:
        raise OAuthRequestError(reason="the request is not a form") from None
    form = dict(fields)
    if len(form) != len(fields):
        raise OAuthRequestError(reason="a field is given twice")
    return form


def _basic(header: str) -> tuple[str, str] | None:
    """Return client and secret of a header; None if there is none of that scheme.

    Source: RFC 6749, section 2.3.1.
    """
    scheme, _, encoded = header.strip().partition(" ")
    if scheme.lower() != _BASIC:
        return None
    try:
        text = base64.b64decode(encoded.strip(), validate=True).decode()
    except (binascii.Error, ValueError):
        raise ClientRefusedError(reason="its Authorization cannot be read") from None
    client_id, _, secret = text.partition(":")
    return unquote_plus(client_id), unquote_plus(secret)
