"""What every endpoint does before and after its own part.

A call comes in by its token, from an address that the recipient allows, and not too
fast; whatever then happens is answered in JSON and recorded.
"""

import logging
from collections.abc import Callable
from typing import Any, ClassVar, NoReturn, TypeVar, cast

from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.views import APIView

from apps.operate.switches.state import SHARING, require_on
from apps.pages.request.addresses import client_address
from apps.sharing.access import callers as access
from apps.sharing.activity.refusals import REASON, kept_reason
from apps.sharing.answers.awaited import once_prepared
from apps.sharing.answers.listings import PageRequest
from apps.sharing.api import throttling
from apps.sharing.api.audit import CallRecord
from apps.sharing.api.authentication import identify
from apps.sharing.api.errors import Failure, failure_of
from apps.sharing.api.keys import page_token_keys
from apps.sharing.api.responses import StreamedAnswer, WholeAnswer, without_body
from apps.sharing.models import Recipient, RecipientToken, Share, SharedTable
from deltaweb.delta.errors import DeltaError
from deltaweb.iceberg.access.errors import KeysRefusedError
from deltaweb.sharing.capabilities import (
    FILE_ID_HEADER,
    HEADER,
    Capabilities,
    parse_capabilities,
)
from deltaweb.sharing.errors import (
    FileRefusedError,
    FormatNotOfferedError,
    MethodNotAllowedError,
    SharingError,
)
from deltaweb.sharing.parameters import parse_max_results

logger = logging.getLogger(__name__)
T = TypeVar("T")

UNAUTHENTICATED = 401
NAMES = ("share", "schema", "table")
REFUSED_BY_KEY = (FileRefusedError, KeysRefusedError)


class ProtocolView(APIView):
    """Base of all paths of the protocol: answers and errors in its form.

    Nothing is negotiated: whatever a client accepts or sends, it is JSON.
    """

    authentication_classes = []
    permission_classes = []
    parser_classes = []
    renderer_classes = []
    throttle_classes = []
    http_method_names = ["get", "head"]

    action: ClassVar[str] = "call.refused"
    is_recorded: ClassVar[bool] = True

    def dispatch(
        self,
        request: HttpRequest,
        *args: Any,  # noqa: ANN401 (Django's own)
        **kwargs: Any,  # noqa: ANN401 (as above)
    ) -> HttpResponseBase:
        """Answer a call, and record it."""
        self.now = timezone.now()
        self.error_code = ""
        self.record = CallRecord(
            action=self.action,
            at=self.now,
            request_id=getattr(request, "id", ""),
            address=client_address(request),
            user_agent=request.headers.get("User-Agent", ""),
            names={
                k: v for k, v in kwargs.items() if k in {"share", "schema", "table"}
            },
            is_recorded=self.is_recorded,
        )
        response = super().dispatch(request, *args, **kwargs)
        if not isinstance(response, StreamedAnswer):
            self.record.save(status=response.status_code, error_code=self.error_code)
        if request.method == "HEAD" and isinstance(response, WholeAnswer):
            return without_body(response)
        return response

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        """Let everybody in while sharing is on."""
        del request, args, kwargs
        require_on(SHARING)

    def note_caller(self, token: RecipientToken) -> None:
        """Record whose call it is, also if it is refused."""
        self.record.token = token

    def http_method_not_allowed(
        self, request: HttpRequest, *args: object, **kwargs: object
    ) -> NoReturn:
        """Refuse a method that the endpoint does not have."""
        del args, kwargs
        raise self.method_refusal(request.method or "")

    def method_refusal(self, method: str) -> SharingError:
        """Return what another method is refused with."""
        return MethodNotAllowedError(method=method, allowed=self.allowed_methods)

    def handle_exception(self, exc: Exception) -> WholeAnswer:  # type: ignore[override]  # any response will do
        """Answer a failure; a DeltaError goes to the log with the request's id."""
        failure = failure_of(exc)
        self.error_code = failure.error_code
        if reason := kept_reason(failure.message):
            self.record.detail[REASON] = reason
        if isinstance(exc, DeltaError):
            self.record.detail["error"] = exc.code
            logger.info("Request %s: %s", self.record.request_id, exc)
        if failure.is_fault:
            logger.error("Request %s failed", self.record.request_id, exc_info=exc)
        if failure.status == UNAUTHENTICATED or isinstance(exc, REFUSED_BY_KEY):
            self._slow_down()
        return self.refusal(failure, exc)

    def refusal(self, failure: Failure, error: Exception) -> WholeAnswer:
        """Return a failure as the endpoint's clients read it."""
        del error
        return failure.answer()

    def _slow_down(self) -> None:
        """Make an address wait that fails all the time; its rows would fill disks."""
        delay_s = throttling.failure_delay_s(self.record.address)
        if delay_s > 0:
            self.record.is_recorded = False
            throttling.slow_down(delay_s)


class SharingView(ProtocolView):
    """Base of the endpoints: only recipients come in."""

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        """Let a recipient in."""
        super().initial(request, *args, **kwargs)
        record = self.record
        header = request.headers.get("Authorization", "")
        self.token = record.token = identify(header, now=self.now)
        access.check_live(self.token, now=self.now)
        access.check_address(self.token.recipient, record.address)
        throttling.check_rate(self.token.id)
        access.note_use(
            self.token,
            address=record.address,
            user_agent=record.user_agent,
            now=self.now,
        )

    @property
    def recipient(self) -> Recipient:
        return self.token.recipient

    def page_request(self) -> PageRequest:
        """Return which page of a list is asked for."""
        query = self.request.query_params
        return PageRequest(
            keys=page_token_keys(),
            max_results=parse_max_results(query.get("maxResults")),
            page_token=query.get("pageToken", ""),
        )


class InShareView(SharingView):
    """Base of the endpoints of one share."""

    share: Share

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        """Let a recipient in, and find the share that it may read."""
        super().initial(request, *args, **kwargs)
        self.share = access.granted_share(self.recipient, str(kwargs["share"]))
        self.record.names["share"] = self.share.name


class TableView(SharingView):
    """Base of the endpoints of one table."""

    shared_table: SharedTable

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        """Let a recipient in, and find the table that it may read."""
        super().initial(request, *args, **kwargs)
        names = cast("dict[str, str]", kwargs)
        self.shared_table = access.granted_table(
            self.recipient, names["share"], names["schema"], names["table"]
        )
        self.record.shared_table = self.shared_table

    def once_prepared(self, answer: Callable[[], T]) -> T:
        """Return an answer that may have to wait for files."""
        return once_prepared(self.shared_table, answer, now=self.now)

    def capabilities(self) -> Capabilities:
        """Return what the client can read."""
        headers = self.request.headers
        found = parse_capabilities(
            headers.get(HEADER, ""), file_id_hash=headers.get(FILE_ID_HEADER, "")
        )
        if not found.reads_parquet and not found.reads_delta:
            raise FormatNotOfferedError(asked=found.response_formats)
        return found
