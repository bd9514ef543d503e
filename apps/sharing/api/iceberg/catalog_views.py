"""The endpoints of the catalogue: shares and schemas are its namespaces.

Without a warehouse, a share is a namespace and each of its schemas one below it; a
client that names a share as its warehouse sees the schemas alone.

Source: Iceberg REST catalogue (rest-catalog-open-api.yaml).
"""

from datetime import datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.http import HttpResponseBase
from rest_framework.request import Request

from apps.sharing.access import callers as access
from apps.sharing.access.grants.rules import rule_for
from apps.sharing.activity.budgets import check_budget
from apps.sharing.answers import listings
from apps.sharing.answers.awaited import once_prepared
from apps.sharing.answers.listings import Page, PageRequest
from apps.sharing.answers.row_count import RowCount
from apps.sharing.api.base import SharingView
from apps.sharing.api.errors import Failure
from apps.sharing.api.iceberg.entity_tags import EntityTags
from apps.sharing.api.iceberg.kept import objects_of
from apps.sharing.api.iceberg.layouts import IcebergTable, open_iceberg_table
from apps.sharing.api.iceberg.responses import catalog_refusal
from apps.sharing.api.keys import (
    entity_tag_keys,
    object_keys,
    page_token_keys,
    session_keys,
)
from apps.sharing.api.request_body import read_body
from apps.sharing.api.responses import NO_STORE, WholeAnswer, json_answer
from apps.sharing.errors import NotGrantedError
from apps.sharing.models import Share, SharedTable
from deltaweb.delta.log.commits.times import to_ms
from deltaweb.iceberg.access.vended_keys import Claims, VendedKeys, vend_keys
from deltaweb.iceberg.errors import CatalogEndpointNotFoundError, CatalogReadOnlyError
from deltaweb.sharing.errors import ParameterInvalidError, SharingError
from deltaweb.sharing.parameters import parse_max_results

SEPARATOR: Final = "\x1f"
REGION: Final = "us-east-1"
NO_CONTENT: Final = 204
NOT_MODIFIED: Final = 304
ALL_SNAPSHOTS, REFERENCED_SNAPSHOTS = "all", "refs"
DELEGATION: Final = "X-Iceberg-Access-Delegation"
MAX_REPORT_BYTES: Final = 1 << 20
ALL: Final = 1 << 31  # of a list that is asked for without pages
_NAMESPACES: Final = "/v1/{prefix}/namespaces"
_NAMESPACE: Final = f"{_NAMESPACES}/{{namespace}}"
_TABLES: Final = f"{_NAMESPACE}/tables"
_TABLE: Final = f"{_TABLES}/{{table}}"
ENDPOINTS: Final = (
    f"GET {_NAMESPACES}",
    *(f"{method} {_NAMESPACE}" for method in ("GET", "HEAD")),
    f"GET {_TABLES}",
    *(f"{method} {_TABLE}" for method in ("GET", "HEAD")),
)


class CatalogView(SharingView):
    """Base of the endpoints: recipients come in as by the sharing protocol."""

    def refusal(self, failure: Failure, error: Exception) -> WholeAnswer:
        """Return a failure as the catalogue spells it."""
        return catalog_refusal(failure, error)

    def asked_page(self) -> PageRequest:
        """Return which page of a list is asked for: all of it, where none is."""
        query = self.request.query_params
        token = query.get("pageToken")
        if token is None:  # the client knows no pages
            return PageRequest(keys=page_token_keys(), max_results=ALL)
        max_results = parse_max_results(query.get("pageSize"), name="pageSize")
        return PageRequest(
            keys=page_token_keys(),
            max_results=max_results or 1,
            page_token=token,
            parameter="next-page-token",
        )

    def levels(self, prefix: str, namespace: str = "") -> list[str]:
        """Return the names of a namespace, a share's first."""
        names = [name for name in (prefix, *namespace.split(SEPARATOR)) if name]
        if len(names) > len(("share", "schema")):
            raise NotGrantedError(kind="schema", name=".".join(names))
        return names

    def granted_schema(self, names: list[str]) -> tuple[Share, str | None]:
        """Return the share, and the schema where one is named."""
        share = access.granted_share(self.recipient, names[0])
        self.record.names["share"] = share.name
        if names[1:]:
            tables = access.granted_tables(self.recipient, share.name, names[1])
            schema = tables[0].schema
            self.record.names["schema"] = schema
            return share, schema
        return share, None


def _page_body(name: str, items: list[Any], page: Page | None) -> dict[str, Any]:
    body: dict[str, Any] = {name: items}
    if page is not None and page.next_page_token is not None:
        body["next-page-token"] = page.next_page_token
    return body


class ConfigView(CatalogView):
    """GET v1/config."""

    action = "iceberg.config"

    def get(self, request: Request) -> HttpResponseBase:
        """Answer which endpoints there are, and the prefix of a warehouse."""
        overrides = {}
        if warehouse := request.query_params.get("warehouse", ""):
            overrides["prefix"] = access.granted_share(self.recipient, warehouse).name
        return json_answer(
            {"defaults": {}, "overrides": overrides, "endpoints": list(ENDPOINTS)}
        )


class NamespaceListView(CatalogView):
    """GET v1/{prefix}/namespaces."""

    action = "iceberg.namespaces"

    def get(self, request: Request, *, prefix: str = "") -> HttpResponseBase:
        """Answer with a page of shares, or of the schemas of one."""
        parent = self.levels(prefix, request.query_params.get("parent", ""))
        asked = self.asked_page()
        if not parent:
            page = listings.list_shares(self.recipient, asked=asked)
            return json_answer(
                _page_body("namespaces", [[one["name"]] for one in page.items], page)
            )
        share, schema = self.granted_schema(parent)
        if schema is not None:
            return json_answer({"namespaces": []})
        page = listings.list_schemas(self.recipient, share, asked=asked)
        head = [] if prefix else [share.name]
        found = [[*head, one["name"]] for one in page.items]
        return json_answer(_page_body("namespaces", found, page))


class NamespaceView(CatalogView):
    """GET and HEAD v1/{prefix}/namespaces/{namespace}."""

    action = "iceberg.namespace"

    def get(
        self, request: Request, *, namespace: str, prefix: str = ""
    ) -> HttpResponseBase:
        """Answer with a share or a schema."""
        del request
        names = self.levels(prefix, namespace)
        self.granted_schema(names)
        return json_answer({"namespace": names[bool(prefix) :], "properties": {}})

    def head(
        self, request: Request, *, namespace: str, prefix: str = ""
    ) -> HttpResponseBase:
        """Answer whether there is one."""
        self.get(request, namespace=namespace, prefix=prefix)
        return WholeAnswer(status=NO_CONTENT)


class TableListView(CatalogView):
    """GET v1/{prefix}/namespaces/{namespace}/tables."""

    action = "iceberg.tables"

    def get(
        self, request: Request, *, namespace: str, prefix: str = ""
    ) -> HttpResponseBase:
        """Answer with a page of the tables of a schema."""
        del request
        share, schema = self.granted_schema(self.levels(prefix, namespace))
        if schema is None:
            return json_answer({"identifiers": []})
        page = listings.list_tables(
            self.recipient, share, schema, asked=self.asked_page()
        )
        head = [schema] if prefix else [share.name, schema]
        found = [{"namespace": head, "name": one["name"]} for one in page.items]
        return json_answer(_page_body("identifiers", found, page))


class InTableView(CatalogView):
    """Base of the endpoints of one table."""

    shared_table: SharedTable

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        """Let a recipient in, and find the table that it may read."""
        super().initial(request, *args, **kwargs)
        names = self.levels(str(kwargs.get("prefix", "")), str(kwargs["namespace"]))
        share, schema = [*names, ""][:2]
        self.shared_table = access.granted_table(
            self.recipient, share, schema, str(kwargs["table"])
        )
        self.record.shared_table = self.shared_table


class MetricsView(InTableView):
    """POST v1/{prefix}/namespaces/{namespace}/tables/{table}/metrics.

    A report is read to its end and not kept: the answer promises no more.
    """

    action = "iceberg.metrics"
    is_recorded = False
    http_method_names = ["post"]

    def post(self, request: Request, **names: str) -> HttpResponseBase:
        """Accept a report of metrics."""
        del names
        read_body(request, limit_bytes=MAX_REPORT_BYTES)
        return WholeAnswer(status=NO_CONTENT)


class TableView(InTableView):
    """GET and HEAD v1/{prefix}/namespaces/{namespace}/tables/{table}."""

    action = "iceberg.table"

    def get(self, request: Request, **names: str) -> HttpResponseBase:
        """Answer with the table's metadata, and keys to fetch what it names.

        A client that has the same answer, with keys that are good for half of their
        life still, is told to keep it.
        """
        del names
        check_budget(self.recipient, now=self.now)
        referenced_only = _is_referenced_only(request)
        rule = rule_for(self.shared_table, self.recipient)
        keys = object_keys()
        shared = self.shared_table
        table = once_prepared(
            shared,
            lambda: open_iceberg_table(shared, rule, keys=keys, now=self.now),
            now=self.now,
        )
        metadata = table.metadata(referenced_only=referenced_only)
        lifetime = timedelta(seconds=settings.FILE_URL_LIFETIME_S)
        ends_at = min(self.now + lifetime, self.token.ends_at).replace(microsecond=0)
        tags = EntityTags(
            keys=entity_tag_keys(),
            content=[
                str(self.token.id),
                table.scope,
                table.metadata_location,
                metadata,
                request.headers.get(DELEGATION, ""),
                settings.PUBLIC_URL,
            ],
        )
        known = tags.matching(
            request.headers.get("If-None-Match"),
            now=self.now,
            last_end=ends_at,
            spare=lifetime / 2,
        )
        if known:
            self.record.version = table.newest.version
            return _with_tag(WholeAnswer(status=NOT_MODIFIED), known)
        made = objects_of(table, table.newest.version, now=self.now)
        self.record.version = table.newest.version
        self.record.num_files = self.record.total_files = made.num_files
        self.record.size_bytes = table.newest.size_bytes
        if not table.newest.has_deletion_vectors:
            self.record.rows = RowCount(made.num_rows)
        config = _client_config(self._vend(table, ends_at))
        answer = json_answer(
            {
                "metadata-location": table.metadata_location,
                "metadata": metadata,
                "config": config,
                "storage-credentials": [
                    {"prefix": f"{table.location}/", "config": config}
                ],
            }
        )
        return _with_tag(answer, tags.tag(ends_at))

    def head(self, request: Request, **names: str) -> HttpResponseBase:
        """Answer that there is such a table."""
        del request, names
        return WholeAnswer(status=NO_CONTENT)

    def _vend(self, table: IcebergTable, ends_at: datetime) -> VendedKeys:
        claims = Claims(
            token_id=self.token.id,
            table_id=self.shared_table.id,
            first_version=table.versions[0].version,
            last_version=table.newest.version,
            expires_at=ends_at,
        )
        return vend_keys(claims, session_keys())


def _is_referenced_only(request: Request) -> bool:
    """Whether a client wants no snapshots but those of branches and tags."""
    wanted = request.query_params.get("snapshots") or ALL_SNAPSHOTS
    if wanted not in {ALL_SNAPSHOTS, REFERENCED_SNAPSHOTS}:
        raise ParameterInvalidError(
            name="snapshots",
            reason="it is neither 'all' nor 'refs'",
            hint="Give one of these, or leave it out for all snapshots.",
        )
    return wanted == REFERENCED_SNAPSHOTS


def _with_tag(answer: WholeAnswer, tag: str) -> WholeAnswer:
    answer["ETag"] = tag
    answer["Cache-Control"] = NO_STORE  # it depends on the caller, and may hold keys
    return answer


def _client_config(keys: VendedKeys) -> dict[str, str]:
    """Return the properties by which clients fetch objects from this server."""
    return {
        "s3.endpoint": settings.PUBLIC_URL,
        "s3.path-style-access": "true",
        "s3.region": REGION,
        "client.region": REGION,
        "s3.access-key-id": keys.access_key,
        "s3.secret-access-key": keys.secret_key,
        "s3.session-token": keys.session_token,
        "s3.session-token-expires-at-ms": str(to_ms(keys.expires_at)),
    }


class NoEndpointView(CatalogView):
    """Every other path below the catalogue's; what writes has none."""

    action = "call.refused"
    http_method_names = []

    def method_refusal(self, method: str) -> SharingError:
        """Refuse to read what is not there; any other method is none of ours."""
        if method in {"GET", "HEAD"}:
            return CatalogEndpointNotFoundError()
        return CatalogReadOnlyError(method=method, allowed=())
