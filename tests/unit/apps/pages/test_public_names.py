"""The keys of resources in JSON, CSV, commands and the REST API: others build on them.

A key may be added. One that is to have another name keeps the old one beside it for a
version (`OLD_NAMES` of `page_json`), and the changelog says so.
"""

from typing import Any, Final

import pytest

from apps.accounts.selectors import AccountResource, KeyResource, UserResource
from apps.jobs.listing.resource import JobDetail, JobResource
from apps.pages.page_json import names_of
from apps.sharing.activity.event_rows import EventResource
from apps.sharing.activity.usage import DailyUse
from apps.sharing.activity.use_resource import UseResource
from apps.sharing.issuing.token_rows import TokenResource
from apps.sharing.recipients.detail import GrantResource
from apps.sharing.recipients.resource import RecipientResource
from apps.sharing.shares.resources import SharedTableResource, ShareResource
from apps.tables.head.shapes import TableResource
from apps.tables.versions.resources import CommitResource, LoggedCommit
from deltaweb.delta.protocol.actions import Metadata, Protocol

JOB: Final = """
    id kind title state subject subject_url step progress_done progress_total
    progress_unit requested_by created_at started_at finished_at elapsed_s attempts
    queue_position worker_seen_at cancel_requested_at
    error_code error_message error_hint | error message hint
"""
USER: Final = (
    "name role active created_at last_sign_in_at last_seen_at num_keys id email "
    "email_confirmed | api_keys"
)
COMMIT: Final = "version timestamp operation user engine_info | engine"
NAMES: Final[dict[type[Any], str]] = {
    JobResource: JOB,
    JobDetail: f"""
        {JOB} parameters result steps counters log result_url request_id details
    """,
    TableResource: """
        name namespace table location description restricted owner tags state status
        behind
        version committed_at indexed_at probed_at files_checked_at
        num_records num_files size_bytes num_columns partition_columns
        error_code error_message error_hint error_since id url | error
    """,
    CommitResource: f"""
        {COMMIT} sentence files_added files_removed bytes_added bytes_removed
        rows_added rows_removed num_files size_bytes num_records data_change
        changes_schema changes_metadata changes_protocol readability
        readability_reason archived
    """,
    LoggedCommit: f"{COMMIT} timestamp_of parameters metrics",
    Protocol: "min_reader_version min_writer_version reader_features writer_features",
    Metadata: """
        id name description format schema_string partition_columns configuration
        created_time
    """,
    ShareResource: """
        name comment num_tables num_recipients recipients last_read_at off_since
        plain created_at created_by id url description listed
    """,
    SharedTableResource: """
        share name schema table location comment with_history start_version
        condition columns with_directory plain from_schema state state_reason added_at
        earlier_urls_end_at preparation_problem preparation_failed_at id
        | partition_filter
    """,
    RecipientResource: """
        name contact comment state token_ends_at num_shares shares last_used_at
        allowed_networks properties earlier_urls_end_at plain created_at id url
        | token_state
    """,
    GrantResource: """
        share table with_history start_version condition columns clients
        | partition_filter
    """,
    TokenResource: """
        id prefix kind issuer audience subject group state created_at created_by
        activated_at activated_from expires_at
        retires_at ends_at revoked_at last_used_at last_used_from last_used_agent
        link_open_until safe_to_revoke cause
    """,
    EventResource: """
        id at kind action words actor recipient token address user_agent share schema
        table version status error_code reason duration_ms num_files total_files
        size_bytes request_id detail
    """,
    UseResource: "last num_days num_requests num_refused size_bytes days",
    DailyUse: """
        day num_requests num_refused size_bytes num_answered | answered refused
    """,
    UserResource: USER,
    AccountResource: f"{USER} theme time_zone keys",
    KeyResource: """
        label user prefix scopes state created_at expires_at last_used_at revoked_at
        id | name
    """,
}
"""A dataclass and its keys, the old names behind the bar."""


@pytest.mark.parametrize("kind", NAMES, ids=lambda kind: kind.__name__)
def test_a_resource_has_these_keys(kind: type[Any]) -> None:
    expected = NAMES[kind].replace("|", " ").split()

    assert sorted(names_of(kind)) == sorted(expected)
