"""OAuth clients of recipients: by a secret, by a key of their own, by an issuer."""

import json
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from http import HTTPStatus
from typing import Any, Literal
from uuid import UUID

from django.http import HttpRequest

from apps.accounts.models import Scope
from apps.api.calls import Answer
from apps.api.endpoint import RestView, Role, endpoint
from apps.api.pages import page_endpoint
from apps.api.sharing.tokens import address_of, facts_of, find_token
from apps.pages.actions import stamp_of
from apps.pages.page_json import Spread
from apps.sharing import urls
from apps.sharing.issuing import credentials, proofs
from apps.sharing.issuing.lifetimes import parse_span, read_lifetime
from apps.sharing.issuing.token_rows import TokenResource, token_row
from apps.sharing.issuing.tokens import issue_profile
from apps.sharing.names import find_recipient


@dataclass(frozen=True, slots=True, kw_only=True)
class NewClient:
    """An OAuth client that is to be made.

    Attributes:
        kind: What it proves itself by.
        public_key: PEM; `private_key` signs by the private key of it.
        issuer: Of OIDC, whose tokens are taken of one that is `federated`.
        audience: For whom they have to be.
        subject: About whom; or else
        group: which group that has to be in.
        expires: How long it is good: `90d`, `24h`, or the last day.
        keep_old: It replaces others of its kind, which stay good so long: `24h`, `0`;
            null replaces none.
    """

    kind: Literal["client_secret", "private_key", "federated"]
    public_key: str = ""
    issuer: str = ""
    audience: str = ""
    subject: str = ""
    group: str = ""
    expires: str = ""
    keep_old: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeClient:
    """A new OAuth client.

    Attributes:
        activation_url: Opens the profile of one with a secret once; it is shown now
            and never again. Null where `profile` on its address holds no secret.
        activation_expires_at: When the link closes.
    """

    resource: Spread[TokenResource]
    activation_url: str | None
    activation_expires_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownClient:
    """A token or an OAuth client, and what it comes in by.

    Attributes:
        profile: Its profile file.
    """

    client: TokenResource
    profile: dict[str, Any]


class ClientList(RestView):
    """The OAuth clients of a recipient, which its tokens are listed with."""

    @endpoint(Role.ADMIN, body=NewClient, answers={201: MadeClient}, scope=Scope.SHARE)
    def post(self, request: HttpRequest, name: str, body: NewClient) -> Answer:
        """Make an OAuth client, beside the tokens that there are or for its kind.

        `Location` is the address of it among the recipient's tokens.
        """
        recipient, stamp = find_recipient(name), stamp_of(request)
        issue = credentials.issue
        if body.keep_old is not None:
            kept = parse_span(body.keep_old, now=stamp.at)
            issue = partial(credentials.rotate, keep_old=kept)
        made = issue(
            recipient,
            proof=proofs.of_kind(
                body.kind,
                public_key=body.public_key,
                issuer=body.issuer,
                audience=body.audience,
                subject=body.subject,
                group=body.group,
            ),
            lifetime=read_lifetime(body.expires, now=stamp.at),
            stamp=stamp,
        )
        return Answer(
            MadeClient(
                resource=token_row(made.token, now=stamp.at).describe(),
                activation_url=made.link or None,
                activation_expires_at=made.link_expires_at,
            ),
            HTTPStatus.CREATED,
            headers={"Location": address_of(made.token)},
            about=facts_of(made.token) if made.link else None,
        )


class ClientProfile(RestView):
    """What a token or an OAuth client comes in by."""

    get = page_endpoint(
        urls.urlpatterns,
        "client-profile",
        ShownClient,
        "Tell what an OAuth client comes in by that has no secret here.",
        role=Role.ADMIN,
    )

    @endpoint(Role.ADMIN, answers={201: ShownClient}, scope=Scope.SHARE)
    def post(self, request: HttpRequest, name: str, token_id: UUID) -> Answer:
        """Activate a token that waits, and answer its profile file, once.

        Its links are withdrawn: whoever calls hands the file over.
        """
        token, stamp = find_token(name, token_id), stamp_of(request)
        profile = issue_profile(token, stamp=stamp)
        shown = token_row(token, now=stamp.at).describe()
        return Answer(
            ShownClient(client=shown, profile=json.loads(profile.to_json())),
            HTTPStatus.CREATED,
            about=facts_of(token),
        )
