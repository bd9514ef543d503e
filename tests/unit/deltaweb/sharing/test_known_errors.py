"""Errors of real clients are known again, each by its cause."""

import time

import pytest

from deltaweb.iceberg.errors import NotIcebergError
from deltaweb.sharing import errors
from deltaweb.sharing.client_errors import MAX_LENGTH, mentioned
from deltaweb.sharing.known_errors import KNOWN_ERRORS, recognize

QUERY = (
    "http://10.0.0.7:8000/delta-sharing/shares/s%201/schemas/crm/tables/orders/query"
)
SAID = {
    "name-not-found": "requests.exceptions.ConnectionError: HTTPSConnectionPool("
    "host='sharing.acme.example', port=443): Max retries exceeded (Caused by "
    "NameResolutionError('[Errno -2] Name or service not known'))",
    "certificate-expired": "SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_"
    "VERIFY_FAILED] certificate verify failed: certificate has expired (_ssl.c:1)'))",
    "certificate-of-another-host": "certificate verify failed: Hostname mismatch, "
    "certificate is not valid for 'sharing.acme.example'.",
    "certificate-not-trusted": "javax.net.ssl.SSLHandshakeException: PKIX path "
    "building failed: unable to find valid certification path to requested target",
    "not-tls": "[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1016)",
    "clock-skewed": "<Code>RequestTimeTooSkewed</Code><Message>The difference between "
    "the request time and the current time is too large.</Message>",
    "token-expired": "requests.exceptions.HTTPError: It may be caused by an expired "
    "token as it has expired at 2026-01-01T00:00:00.000Z",
    "token-revoked": f"401 Client Error: Unauthorized for url: {QUERY}\n Response from "
    "server: {'message': 'This bearer token has been revoked. Ask the provider'}",
    "token-unknown": "401 Client Error: Unauthorized\n{ 'errorCode': 'UNAUTHENTICATED',"
    " 'message': 'This bearer token is not known here. Check the profile file'}",
    "token-missing": "'message': 'No bearer token came with the request. Send the'",
    "address-not-allowed": f"403 Client Error: Forbidden for url: {QUERY}\n"
    "'message': 'The address 10.1.2.3 may '\n    'not use this. Ask the provider'",
    "profile-too-new": "ValueError: 'shareCredentialsVersion' in the profile is 2 "
    "which is too new. The current release supports version 1 and below.",
    "profile-unreadable": "ValueError: read of closed file",
    "address-malformed": "ValueError: Invalid 'url': acme.share#sales.orders",
    "oauth-refused": '401 {"error": "invalid_client"}',
    "version-not-ready": "409 Client Error\n{ 'errorCode': 'UNSUPPORTED_OPERATION', "
    "'message': 'Version 3 of table crm.orders is not ready to be read yet. Try'}",
    "version-vacuumed": "{'errorCode': 'RESOURCE_DOES_NOT_EXIST', 'message': 'Version "
    "3 of the table cannot be read any more: files of it were deleted. Ask for'}",
    "not-shared-so": "{'errorCode': 'UNSUPPORTED_OPERATION', 'message': 'Changes of "
    "table crm.orders are not shared before version 7: only a part of it is.'}",
    "delta-format-needed": "'dsError': 'DS_UNSUPPORTED_DELTA_TABLE_FEATURES', "
    "'optionStr': 'For DeletionVectors, use DBR with version 14.1'",
    "type-not-read": "ValueError: Could not parse datatype: timestamp_ntz",
    "line-not-known": "    file = File.from_json(line['file'])\nKeyError: 'file'",
    "url-expired": "FileNotFoundError: https://bucket.s3.eu-west-2.amazonaws.com/t/part"
    "-0.snappy.parquet?X-Amz-Expires=3600&X-Amz-Signature=106a",
    "url-changed": "Generic Error: Object at location /f/part-0.parquet not found",
    "not-a-parquet-file": "ArrowInvalid: External error: Arrow error: Parquet error: "
    "Could not parse metadata: bad data",
    "encrypted-by-customer-key": "The object was stored using a form of Server Side "
    "Encryption. The correct parameters must be provided to retrieve the object.",
    "table-not-granted": f"404 Client Error: Not Found for url: {QUERY}\n"
    "{ 'errorCode': 'RESOURCE_DOES_NOT_EXIST' }",
    "limit-reached": "HTTPError: 429 Client Error\n'message': 'The provider lets you "
    "read 1 GiB a month, and that is used up: 2 GiB were offered'",
    "too-many-requests": "HTTPError: 429 Client Error: Too Many Requests",
    "another-server-answers": "json.decoder.JSONDecodeError: Expecting value: line 1 "
    "column 1 (char 0)",
    "proxy-refuses": "ProxyError('Cannot connect to proxy.', OSError('Tunnel "
    "connection failed: 403 Forbidden'))",
    "gateway-fails": "HTTPError: 502 Server Error: Bad Gateway for url",
    "connection-refused": "Failed to establish a new connection: [Errno 111] "
    "Connection refused",
    "timed-out": "HTTPConnectionPool(host='x', port=80): Read timed out.",
    "spark-connector-missing": "Failed to find the data source: deltaSharing.",
    "duckdb-extension-missing": 'HTTP Error: Failed to download extension "delta" at',
    "not-let-in": "HTTPError: 401 Client Error: Unauthorized",
    "not-allowed": "Power BI: DataSource.Error: Access to the resource is forbidden.",
    "not-found": "HTTPError: 404 Client Error: Not Found",
    "no-connection": "ConnectionError: ('Connection aborted.', RemoteDisconnected())",
}


@pytest.mark.parametrize("key", [one.key for one in KNOWN_ERRORS])
def test_each_is_known_by_what_a_client_writes(key: str) -> None:
    assert recognize(SAID[key])[0].key == key


@pytest.mark.parametrize(
    ("error", "key"),
    [
        (errors.VersionNotReadyError(table="t", version=3), "version-not-ready"),
        (errors.FilesVacuumedError(version=3), "version-vacuumed"),
        (errors.RuledChangesError(table="t"), "not-shared-so"),
        (errors.RuledChangesError(table="t", since=3), "not-shared-so"),
        (errors.HistoryNotSharedError(table="t"), "not-shared-so"),
        (errors.HistoryNotSharedError(table="t", since=3), "not-shared-so"),
        (errors.DirectoryNotOfferedError(table="t", reason="r"), "not-shared-so"),
        (NotIcebergError(table="t", reason="in part"), "not-shared-so"),
        (
            errors.TableMisreadError(
                table="t", misreadings=[], response_format="parquet"
            ),
            "delta-format-needed",
        ),
    ],
)
def test_what_this_server_refuses_is_known_by_its_cause(error, key: str) -> None:
    text = f"{{'errorCode': '{error.error_code}', 'message': '{error}'}}"

    assert recognize(text)[0].key == key


def test_what_nobody_knows_is_not_guessed() -> None:
    assert recognize("KeyError: 'orders'") == []


def test_a_cause_goes_before_what_many_share() -> None:
    found = recognize(SAID["token-revoked"])

    assert [one.key for one in found] == ["token-revoked"]


def test_an_error_names_the_table_and_whom_it_asked() -> None:
    tables, hosts = mentioned(f"{QUERY} and again {QUERY}")

    assert tables == [("s 1", "crm", "orders")]
    assert hosts == ["10.0.0.7:8000"]


@pytest.mark.parametrize("part", ["/shares/", "https://a/", "address ", "'url' ", "a"])
def test_a_hostile_text_takes_no_time(part: str) -> None:
    text = part * (2 * MAX_LENGTH // len(part))
    started_s = time.monotonic()

    recognize(text)
    mentioned(text)

    assert time.monotonic() - started_s < 5
