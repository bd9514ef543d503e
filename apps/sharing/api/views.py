"""The endpoints of the protocol; each is one call into `apps.sharing.answers`.

Source: delta_sharing_protocol.md, "REST APIs".
"""

from typing import Final

from django.conf import settings
from django.http import HttpResponseBase
from rest_framework.request import Request

from apps.sharing.activity.budgets import check_budget
from apps.sharing.activity.heavy_queries import CONDITION, condition_text
from apps.sharing.activity.refusals import kept_reason
from apps.sharing.answers import listings, tables
from apps.sharing.answers.changes import table_changes
from apps.sharing.answers.credentials import credentials_body, table_credentials
from apps.sharing.answers.queries import may_wait, read_query, submit_query
from apps.sharing.answers.signed_lines import SigningPlan
from apps.sharing.api.base import (
    InShareView,
    ProtocolView,
    SharingView,
    TableView,
)
from apps.sharing.api.keys import signing_plan
from apps.sharing.api.places import Stream
from apps.sharing.api.request_body import read_body
from apps.sharing.api.responses import (
    json_answer,
    later_answer,
    lines_answer,
    set_version,
    stream_answer,
    version_answer,
)
from apps.sharing.api.streams import RecordedStream
from deltaweb.sharing.errors import EndpointNotFoundError, SharingError
from deltaweb.sharing.parameters import parse_moment, parse_version
from deltaweb.sharing.table_query import (
    MAX_BODY_BYTES,
    check_one_version,
    parse_changes_query,
    parse_location_request,
    parse_page,
    parse_table_query,
)

MAX_SKIPPED_SHOWN: Final = 20
DATA_FORMAT: Final = "delta"


# === Lists ===


class ShareListView(SharingView):
    """GET shares.

    Source: "List Shares".
    """

    action = "share.list"

    def get(self, request: Request) -> HttpResponseBase:
        """Answer with a page of the recipient's shares."""
        del request
        page = listings.list_shares(self.recipient, asked=self.page_request())
        return json_answer(page.body())


class ShareView(InShareView):
    """GET shares/{share}.

    Source: "Get Share".
    """

    action = "share.get"

    def get(self, request: Request, *, share: str) -> HttpResponseBase:
        """Answer with one share."""
        del request, share
        return json_answer({"share": listings.share_item(self.share)})


class SchemaListView(InShareView):
    """GET shares/{share}/schemas.

    Source: "List Schemas in a Share".
    """

    action = "schema.list"

    def get(self, request: Request, *, share: str) -> HttpResponseBase:
        """Answer with a page of a share's schemas."""
        del request, share
        page = listings.list_schemas(
            self.recipient, self.share, asked=self.page_request()
        )
        return json_answer(page.body())


class TableListView(InShareView):
    """GET shares/{share}/schemas/{schema}/tables.

    Source: "List Tables in a Schema".
    """

    action = "table.list"

    def get(self, request: Request, *, share: str, schema: str) -> HttpResponseBase:
        """Answer with a page of a schema's tables."""
        del request, share
        page = listings.list_tables(
            self.recipient, self.share, schema, asked=self.page_request()
        )
        return json_answer(page.body())


class AllTableListView(InShareView):
    """GET shares/{share}/all-tables.

    Source: "List all Tables in a Share".
    """

    action = "table.list_all"

    def get(self, request: Request, *, share: str) -> HttpResponseBase:
        """Answer with a page of the tables of all schemas."""
        del request, share
        page = listings.list_all_tables(
            self.recipient, self.share, asked=self.page_request()
        )
        return json_answer(page.body())


# === One table ===


class TableVersionView(TableView):
    """GET shares/{share}/schemas/{schema}/tables/{table}/version.

    Source: "Query Table Version"; sharing_wire.md, M1.
    """

    action = "table.version"

    def get(self, request: Request, **names: str) -> HttpResponseBase:
        """Answer with the version alone, in `Delta-Table-Version`."""
        del names
        text = request.query_params.get("startingTimestamp")
        start = None if text is None else parse_moment(text, name="startingTimestamp")
        self.record.version = self.once_prepared(
            lambda: tables.table_version(
                self.shared_table,
                self.recipient,
                now=self.now,
                starting_timestamp=start,
            )
        )
        return version_answer(self.record.version)


class TableDetailView(TableView):
    """HEAD and GET shares/{share}/schemas/{schema}/tables/{table}.

    HEAD is the older way to ask for the version. The protocol has no GET here; today's
    clients read one object, as of a list, and the format of its files.

    Source: "Query Table Version".
    """

    action = "table.version"

    def get(self, request: Request, **names: str) -> HttpResponseBase:
        """Answer with the table as a list shows it, and its version."""
        del request, names
        self.record.version = self.once_prepared(
            lambda: tables.table_version(
                self.shared_table, self.recipient, now=self.now
            )
        )
        answer = json_answer(
            listings.table_item(self.shared_table, self.recipient)
            | {"format": DATA_FORMAT}
        )
        return set_version(answer, self.record.version)


class TableMetadataView(TableView):
    """GET shares/{share}/schemas/{schema}/tables/{table}/metadata.

    Source: "Query Table Metadata"; sharing_wire.md, M11.
    """

    action = "table.metadata"

    def get(self, request: Request, **names: str) -> HttpResponseBase:
        """Answer with the lines of protocol and metadata."""
        del names
        capabilities = self.capabilities()
        query = request.query_params
        version, timestamp = query.get("version"), query.get("timestamp")
        check_one_version({"version": version, "timestamp": timestamp})
        number = None if version is None else parse_version(version)
        moment = (
            None if timestamp is None else parse_moment(timestamp, name="timestamp")
        )
        found = self.once_prepared(
            lambda: tables.table_metadata(
                self.shared_table,
                self.recipient,
                now=self.now,
                capabilities=capabilities,
                version=number,
                timestamp=moment,
            )
        )
        self.record.version = found.version
        return lines_answer(found.lines, found.response_format, version=found.version)


class FilesView(TableView):
    """Base of the endpoints that answer with files, streamed while they are signed."""

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        """Let a recipient in that may read more this month."""
        super().initial(request, *args, **kwargs)
        check_budget(self.recipient, now=self.now)

    def signing(self) -> SigningPlan:
        """Return what the URLs of files are made from."""
        return signing_plan(self.token, now=self.now)

    def answer(self, found: tables.FilesAnswer) -> HttpResponseBase:
        """Answer with the files, and record them."""
        self._note(found)
        stream = RecordedStream(
            found.lines, self.record, end=found.end, place=Stream(self.token.id)
        )
        return stream_answer(
            stream,
            found.response_format,
            version=found.version,
            capabilities=self.capabilities(),
            num_skipped_hints=len(found.skipped_hints),
        )

    def _note(self, found: tables.FilesAnswer) -> None:
        record = self.record
        record.version, record.last_version = found.version, found.last_version
        record.num_files = found.num_files
        record.total_files = found.total_files
        record.size_bytes = found.size_bytes
        record.rows = found.rows
        if found.skipped_hints:
            record.detail["num_skipped_hints"] = len(found.skipped_hints)
            record.detail["skipped_hints"] = [
                {"text": ascii(skipped.text), "reason": ascii(skipped.reason)}
                for skipped in found.skipped_hints[:MAX_SKIPPED_SHOWN]
            ]


class TableQueryView(FilesView):
    """POST shares/{share}/schemas/{schema}/tables/{table}/query.

    Source: "Read Data from a Table".
    """

    action = "table.query"
    http_method_names = ["post"]

    def post(self, request: Request, **names: str) -> HttpResponseBase:
        """Answer with the files of one version, or those of a stream of versions."""
        del names
        query = parse_table_query(read_body(request, limit_bytes=MAX_BODY_BYTES))
        if condition := condition_text(query):
            self.record.detail[CONDITION] = kept_reason(condition)
        shared, read = self.shared_table, self.capabilities()
        signing = self.signing()
        if read.waits and may_wait(shared, query, self.recipient):
            self.record.detail["is_answered_later"] = True
            status = submit_query(shared, query, capabilities=read, signing=signing)
            return later_answer(status.body())
        if query.changes is None:
            found = self.once_prepared(
                lambda: tables.table_files(
                    shared, query, capabilities=read, signing=signing
                )
            )
        else:
            found = table_changes(
                shared, query.changes, capabilities=read, signing=signing
            )
        return self.answer(found)


class QueryView(FilesView):
    """POST shares/{share}/schemas/{schema}/tables/{table}/queries/{query}.

    Source: delta_sharing_protocol_2026.md, "Get Query Info".
    """

    action = "table.query"
    http_method_names = ["post"]

    def post(self, request: Request, *, query: str, **names: str) -> HttpResponseBase:
        """Answer with a page of the query's files, or how far it is."""
        del names
        found = read_query(
            self.shared_table,
            query,
            parse_page(read_body(request, limit_bytes=MAX_BODY_BYTES)),
            capabilities=self.capabilities(),
            signing=self.signing(),
        )
        if isinstance(found, tables.FilesAnswer):
            return self.answer(found)
        self.record.action = "table.query_status"
        return later_answer(found.body())


class TableChangesView(FilesView):
    """GET shares/{share}/schemas/{schema}/tables/{table}/changes.

    Source: delta_sharing_protocol_2026.md, "Read Change Data Feed from a Table".
    """

    action = "table.changes"
    http_method_names = ["get"]

    def get(self, request: Request, **names: str) -> HttpResponseBase:
        """Answer with the files that hold the changes of some versions."""
        del names
        found = table_changes(
            self.shared_table,
            parse_changes_query(request.query_params),
            capabilities=self.capabilities(),
            signing=self.signing(),
        )
        return self.answer(found)


class TableCredentialsView(TableView):
    """POST shares/{share}/schemas/{schema}/tables/{table}/temporary-table-credentials.

    Source: delta_sharing_protocol_2026.md, "Generate Temporary Table Credential".
    """

    action = "table.credentials"
    http_method_names = ["post"]

    def post(self, request: Request, **names: str) -> HttpResponseBase:
        """Answer with credentials that read the table's folder."""
        del names
        check_budget(self.recipient, now=self.now)
        body = read_body(request, limit_bytes=MAX_BODY_BYTES)
        found = table_credentials(
            self.shared_table,
            location=parse_location_request(body),
            token=self.token,
            lifetime_s=settings.FILE_URL_LIFETIME_S,
            now=self.now,
        )
        table, record = self.shared_table.table, self.record
        # All of the folder can be read; what is known of it is its newest version.
        record.num_files, record.size_bytes = table.num_files, table.size_bytes
        record.detail["expires_at"] = found.expires_at.isoformat()
        return json_answer(credentials_body(found))


# === What is not there ===


class EndpointNotFoundView(ProtocolView):
    """Every other path below the protocol's: JSON, and never a page or a redirect."""

    is_recorded = False
    http_method_names = []

    def method_refusal(self, method: str) -> SharingError:
        """Refuse every method alike."""
        del method
        return EndpointNotFoundError()
