"""What clients of shares say when they fail, what it means, and what to do.

An error is matched by phrases that its client writes; one that tells a cause goes
before one that many causes share. Texts come from people, so that each pattern is one
pass over a text of bounded length.

Source: the sources of delta-sharing 1.4 (Python) and delta-kernel-rs; issues 74, 77,
180, 197, 474, 610, 748, 941 of delta-sharing, 459 of connectors, 970 of
delta-kernel-rs, 12241 of duckdb; the error tables of Amazon S3 and Azure Storage.
"""

import re
from collections.abc import Sequence
from typing import Final

from deltaweb.sharing.client_errors import MAX_LENGTH, KnownError, Step


def recognize(text: str) -> list[KnownError]:
    """Return what an error of a client is known as, the likeliest first.

    Args:
        text: What the client said, a trace or a line of it.
    """
    end = _FOLD.sub("", text[-MAX_LENGTH:])
    found = [one for one in KNOWN_ERRORS if one.is_in(end)]
    return [one for one in found if not one.is_general] or found[:1]


# Python's client prints what a server says in lines of its own: 'one ' 'text'.
_FOLD: Final = re.compile(r"'[ \t]{0,99}\r?\n[ \t]{0,99}'")
_ANY: Final = "every client"
_PYTHON: Final = "delta-sharing for Python, also in Polars and DuckDB"
_SPARK: Final = "delta-sharing-spark"
_KERNEL: Final = "clients of the delta format"

KNOWN_ERRORS: Final[Sequence[KnownError]] = (
    KnownError(
        "name-not-found",
        Step.DNS,
        _ANY,
        r"name or service not known|nodename nor servname|getaddrinfo failed"
        r"|name resolution|NameResolutionError|UnknownHostException"
        r"|remote name could not be resolved|dns error|no such host",
        "The client cannot resolve the host of the endpoint.",
        "Compare the endpoint of its profile with DELTAWEB_PUBLIC_URL. Ask the "
        "recipient "
        "to resolve the name on the machine of its client.",
    ),
    KnownError(
        "certificate-expired",
        Step.TLS,
        _ANY,
        r"certificate has expired|CertificateExpiredException|certificate expired",
        "The certificate of the server has expired, or the client's clock is wrong.",
        "Renew the certificate, and compare the clocks.",
    ),
    KnownError(
        "certificate-of-another-host",
        Step.TLS,
        _ANY,
        r"hostname mismatch|doesn't match|no subject alternative|no name matching"
        r"|NotValidForName|certificate is not valid for",
        "The certificate is not valid for the host of the endpoint.",
        "Use a certificate for the host of DELTAWEB_PUBLIC_URL, or a host that it "
        "covers.",
    ),
    KnownError(
        "certificate-not-trusted",
        Step.TLS,
        _ANY,
        r"self.signed certificate|unable to get local issuer|PKIX path building"
        r"|valid certification path|remote certificate is invalid|UnknownIssuer",
        "The client does not trust the issuer of the server's certificate.",
        "Serve the whole certificate chain. Or let the recipient trust your "
        "authority: in "
        "Java's trust store for Spark, with REQUESTS_CA_BUNDLE for Python.",
    ),
    KnownError(
        "not-tls",
        Step.TLS,
        _ANY,
        r"WRONG_VERSION_NUMBER|unrecognized SSL message|plaintext connection"
        r"|InvalidContentType",
        "The client uses TLS, but the port does not.",
        "Use http:// in DELTAWEB_PUBLIC_URL, or serve TLS with a proxy.",
    ),
    KnownError(
        "clock-skewed",
        Step.CLOCK,
        _ANY,
        r"RequestTimeTooSkewed|difference between the request time and the current"
        r"|token is not yet valid|ImmatureSignature",
        "The clocks of the client, this server and the store differ too much.",
        "Set all clocks with NTP.",
    ),
    KnownError(
        "token-expired",
        Step.TOKEN,
        _ANY,
        r"expired token as it has expired|bearer token ended at|token-expired",
        "The token of the profile has expired.",
        "Rotate the recipient's token, and send the new profile.",
    ),
    KnownError(
        "token-revoked",
        Step.TOKEN,
        _ANY,
        r"bearer token has been revoked|token-revoked",
        "The token of the profile was revoked.",
        "Send a new profile. Find out where the old one is still used.",
    ),
    KnownError(
        "token-unknown",
        Step.TOKEN,
        _ANY,
        r"bearer token is not known here",
        "This server never issued the token, or its recipient was deleted.",
        "Compare the beginning of the token with those on the recipient's page.",
    ),
    KnownError(
        "token-missing",
        Step.HTTP,
        _ANY,
        r"no bearer token came with the request",
        "The token did not arrive: a proxy removes the header Authorization.",
        "Let the proxy pass on the header Authorization.",
    ),
    KnownError(
        "address-not-allowed",
        Step.TOKEN,
        _ANY,
        r"address [0-9a-f.:]{2,45} (is not allowed here|may not use this)"
        r"|unknown address (is not allowed here|may not use)",
        "The client's address is not on the recipient's allow list.",
        "Add its network to the allow list. Behind a proxy, also check "
        "DELTAWEB_TRUSTED_PROXIES.",
    ),
    KnownError(
        "profile-too-new",
        Step.CLIENT,
        _PYTHON,
        r"shareCredentialsVersion.{0,200}too new|unsupported profile\.type"
        r"|does not supports .{0,80} type",
        "The client is too old for this version of the profile.",
        "Update the client, or send a profile with a bearer token.",
    ),
    KnownError(
        "profile-unreadable",
        Step.CLIENT,
        _PYTHON,
        r"read of closed file|No such file or directory: .{0,300}\.share",
        "The client cannot read its profile file.",
        "Check the path before # in the table's address.",
    ),
    KnownError(
        "address-malformed",
        Step.CLIENT,
        _PYTHON,
        r"Invalid 'url'",
        "The table's address does not have the form profile#share.schema.table.",
        "Copy it from the share's page. Names with a dot do not work in this form.",
    ),
    KnownError(
        "oauth-refused",
        Step.TOKEN,
        "clients with an OAuth profile",
        r"invalid_client|invalid_grant|OAuth token (endpoint|response)",
        "The token endpoint did not accept the client.",
        "Look at the refusals of oauth.token under Activity. Check the client's "
        "secret, "
        "key or issuer, and its clock.",
    ),
    KnownError(
        "version-not-ready",
        Step.GRANT,
        _ANY,
        r"is not ready to be read yet",
        "The table is shared in part, and that version is not prepared yet.",
        "Prepare the share. Without a version, the client gets the newest prepared "
        "one.",
    ),
    KnownError(
        "version-vacuumed",
        Step.STORAGE,
        _ANY,
        r"cannot be read any more: files of it were deleted",
        "A vacuum deleted files of the requested version.",
        "Request a newer version, or none. A hold keeps versions for a recipient.",
    ),
    KnownError(
        "not-shared-so",
        Step.GRANT,
        _ANY,
        r"are not shared(?: before version \d{1,20})?(?::|, because) only a part"
        r"|is not offered as a directory|cannot be read as Iceberg"
        r"|is not shared with its history|is shared from version \d{1,20} on",
        "The table is shared in a way that does not allow this request.",
        "Read its newest version with the sharing protocol, or share more of the "
        "table.",
    ),
    KnownError(
        "delta-format-needed",
        Step.FORMAT,
        _ANY,
        r"UNSUPPORTED_DELTA_TABLE_FEATURES|Unsupported Delta Table Properties"
        r"|Delta protocol version .{0,40} is too new|requires a newer version"
        r"|responseformat|cannot be read in the \w{1,20} format",
        "The table uses features that the client does not support in its format.",
        "Use delta-sharing 1.1 or newer, or delta-sharing-spark 3.1 or newer with the "
        'option responseFormat "delta". The Readers page of the table lists them.',
    ),
    KnownError(
        "type-not-read",
        Step.FORMAT,
        _PYTHON,
        r"Could not parse datatype",
        "The client does not support the type of a column in the parquet format.",
        "Read it with load_as_pandas(url, use_delta_format=True).",
    ),
    KnownError(
        "line-not-known",
        Step.FORMAT,
        _PYTHON,
        r"KeyError: '(file|partitionValues|metaData|protocol)'"
        r"|No table metadata found in delta log",
        "The client does not support a line of the answer.",
        "Update the client.",
    ),
    KnownError(
        "url-expired",
        Step.STORAGE,
        _ANY,
        r"Request has expired|ExpiredToken|not valid in the specified time frame"
        r"|FileNotFoundError: .{0,20}https?://",
        "The URL of a file was refused: it has expired, or the client cannot reach the "
        "store.",
        "Read again, in smaller parts. Raise DELTAWEB_FILE_URL_LIFETIME_S for long "
        "reads, "
        "and let the recipient's network reach the store of the table.",
    ),
    KnownError(
        "url-changed",
        Step.STORAGE,
        _ANY,
        r"SignatureDoesNotMatch|Object at location .{0,2000} not found",
        "The signed URL of a file was changed on the way.",
        "Make sure that no proxy rewrites URLs, and update the client.",
    ),
    KnownError(
        "not-a-parquet-file",
        Step.STORAGE,
        _KERNEL,
        r"Corrupt footer|Could not parse metadata: bad data"
        r"|Parquet magic bytes not found",
        "The client received something else instead of a Parquet file: the page of a "
        "proxy, or the refusal of an expired URL.",
        "Examine the connection, which fetches a file. Then query again for new URLs.",
    ),
    KnownError(
        "encrypted-by-customer-key",
        Step.STORAGE,
        "Power BI and others",
        r"stored using a form of Server Side Encryption",
        "The files are encrypted with a key that each request would have to send.",
        "Keep shared tables in a bucket without SSE-C.",
    ),
    KnownError(
        "table-not-granted",
        Step.GRANT,
        _ANY,
        r"The (share|schema|table) '.{1,700}' does not exist"
        r"|RESOURCE_DOES_NOT_EXIST",
        "The recipient cannot see the table: it is not granted, was renamed, or its "
        "files "
        "are missing.",
        "Compare the name with the list under See as recipient.",
    ),
    KnownError(
        "limit-reached",
        Step.GRANT,
        _ANY,
        r"a month, and that is used up",
        "The recipient has reached its monthly limit.",
        "Raise the limit in its settings, or let it read fewer rows with a condition.",
    ),
    KnownError(
        "too-many-requests",
        Step.HTTP,
        _ANY,
        r"RESOURCE_EXHAUSTED|429 Client Error|Too Many Requests",
        "The recipient sent too many requests.",
        "Let it wait for the time in Retry-After, and read fewer tables at a time.",
        is_general=True,
    ),
    KnownError(
        "another-server-answers",
        Step.HTTP,
        _ANY,
        r"JSONDecodeError|Expecting value: line 1|Unexpected character \('<'"
        r"|Missing delta-table-version header|Cannot find Delta-Table-Version",
        "Another server answers at the endpoint.",
        "Compare the endpoint of the profile with DELTAWEB_PUBLIC_URL and its path, "
        "and "
        "check which answers come from the proxy.",
    ),
    KnownError(
        "proxy-refuses",
        Step.HTTP,
        _ANY,
        r"ProxyError|Tunnel connection failed|Proxy Authentication Required",
        "A proxy on the client's side blocks the connection.",
        "Ask the recipient to allow the endpoint and the store, or to set HTTPS_PROXY.",
    ),
    KnownError(
        "gateway-fails",
        Step.HTTP,
        _ANY,
        r"502 (Server Error|Bad Gateway)|503 (Server Error|Service Unavailable)"
        r"|504 (Server Error|Gateway Time-?out)",
        "The proxy in front of this server cannot reach it, or its timeout is too "
        "short.",
        "Check that the server runs. Raise the proxy's timeout for large lists.",
    ),
    KnownError(
        "connection-refused",
        Step.HTTP,
        _ANY,
        r"connection refused|ConnectionRefusedError|ConnectException"
        r"|Failed to establish a new connection|actively refused",
        "No server listens at this address and port.",
        "Check that the server runs, its address and port, and the firewalls between.",
    ),
    KnownError(
        "timed-out",
        Step.HTTP,
        _ANY,
        r"ConnectTimeout|ReadTimeout|SocketTimeoutException|timed out|longer than",
        "No answer came in time.",
        "Check for a firewall between. Request fewer rows, or use a condition.",
        is_general=True,
    ),
    KnownError(
        "spark-connector-missing",
        Step.CLIENT,
        _SPARK,
        r"DeltaDataSource could not be instantiated|data source: deltaSharing"
        r"|ClassNotFoundException: .{0,40}deltaSharing|No active SparkSession"
        r"|Unable to import pyspark",
        "Spark has no connector, or one for another version of Spark or Scala.",
        "Start Spark with the package io.delta:delta-sharing-spark for its version.",
    ),
    KnownError(
        "duckdb-extension-missing",
        Step.CLIENT,
        "DuckDB",
        r"Failed to download extension|automatically install the required extension",
        "DuckDB cannot load an extension.",
        "Install it with a network connection, or read with delta-sharing for Python.",
    ),
    KnownError(
        "not-let-in",
        Step.TOKEN,
        _ANY,
        r"401 Client Error|401 Unauthorized|\(HTTP 401\)|UNAUTHENTICATED"
        r"|couldn't authenticate with the credentials",
        "The token was not accepted.",
        "Check the recipient's tokens: this one may have expired, or the profile "
        "belongs "
        "to another server. Check DELTAWEB_PUBLIC_URL.",
        is_general=True,
    ),
    KnownError(
        "not-allowed",
        Step.TOKEN,
        _ANY,
        r"403 Client Error|403 Forbidden|\(HTTP 403\)|PERMISSION_DENIED"
        r"|resource is forbidden",
        "The client has no permission, usually because of its address.",
        "Check the recipient's allow list and, for a file, the permissions of the "
        "store.",
        is_general=True,
    ),
    KnownError(
        "not-found",
        Step.GRANT,
        _ANY,
        r"404 Client Error|404 Not Found",
        "The table is not granted, or the endpoint is wrong.",
        "Compare the name with the list under See as recipient, and the endpoint with "
        "DELTAWEB_PUBLIC_URL.",
        is_general=True,
    ),
    KnownError(
        "no-connection",
        Step.HTTP,
        _ANY,
        r"ConnectionError|Max retries exceeded|connection (was )?reset"
        r"|RemoteDisconnected|unable to connect",
        "The connection was lost or could not be made.",
        "Check that the server runs, and that the client's network can reach "
        "DELTAWEB_PUBLIC_URL.",
        is_general=True,
    ),
)
