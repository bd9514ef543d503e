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
_PYTHON: Final = "delta-sharing for Python, and what reads by it (Polars, DuckDB)"
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
        "The client does not find the host of the endpoint.",
        "Compare the endpoint of its profile with DELTAWEB_PUBLIC_URL, and let the "
        "recipient look the name up from where its client runs.",
    ),
    KnownError(
        "certificate-expired",
        Step.TLS,
        _ANY,
        r"certificate has expired|CertificateExpiredException|certificate expired",
        "The certificate of the server has ended, or the client's clock is wrong.",
        "Renew the certificate where TLS ends, and compare the clocks.",
    ),
    KnownError(
        "certificate-of-another-host",
        Step.TLS,
        _ANY,
        r"hostname mismatch|doesn't match|no subject alternative|no name matching"
        r"|NotValidForName|certificate is not valid for",
        "The certificate does not name the host of the endpoint.",
        "Get one for the host of DELTAWEB_PUBLIC_URL, or use a name that it has.",
    ),
    KnownError(
        "certificate-not-trusted",
        Step.TLS,
        _ANY,
        r"self.signed certificate|unable to get local issuer|PKIX path building"
        r"|valid certification path|remote certificate is invalid|UnknownIssuer",
        "The client does not trust who signed the certificate of the server.",
        "Serve the whole chain, or let the recipient trust your authority: in Java's "
        "trust store for Spark, by REQUESTS_CA_BUNDLE for Python.",
    ),
    KnownError(
        "not-tls",
        Step.TLS,
        _ANY,
        r"WRONG_VERSION_NUMBER|unrecognized SSL message|plaintext connection"
        r"|InvalidContentType",
        "The client speaks TLS to a port that does not.",
        "Write http:// into DELTAWEB_PUBLIC_URL, or let a proxy end TLS there.",
    ),
    KnownError(
        "clock-skewed",
        Step.CLOCK,
        _ANY,
        r"RequestTimeTooSkewed|difference between the request time and the current"
        r"|token is not yet valid|ImmatureSignature",
        "The clocks of the client, this server and the store differ too much.",
        "Let all of them take their time from NTP.",
    ),
    KnownError(
        "token-expired",
        Step.TOKEN,
        _ANY,
        r"expired token as it has expired|bearer token ended at|token-expired",
        "The token of the profile has ended.",
        "Rotate the recipient's token and hand the new profile over.",
    ),
    KnownError(
        "token-revoked",
        Step.TOKEN,
        _ANY,
        r"bearer token has been revoked|token-revoked",
        "The token of the profile was revoked.",
        "Hand a new profile over; find out where the old one is still used.",
    ),
    KnownError(
        "token-unknown",
        Step.TOKEN,
        _ANY,
        r"bearer token is not known here",
        "This server never issued the token, or its recipient was deleted.",
        "Compare the first characters of the token with those on the recipient's page.",
    ),
    KnownError(
        "token-missing",
        Step.HTTP,
        _ANY,
        r"no bearer token came with the request",
        "The token did not arrive: a proxy takes the header Authorization away.",
        "Let the proxy pass Authorization on.",
    ),
    KnownError(
        "address-not-allowed",
        Step.TOKEN,
        _ANY,
        r"address [0-9a-f.:]{2,45} may not use this|unknown address may not use",
        "The client's address is not on the recipient's allow list.",
        "Add its network to the allow list; behind a proxy, check "
        "DELTAWEB_TRUSTED_PROXIES too.",
    ),
    KnownError(
        "profile-too-new",
        Step.CLIENT,
        _PYTHON,
        r"shareCredentialsVersion.{0,200}too new|unsupported profile\.type"
        r"|does not supports .{0,80} type",
        "The client is too old for this form of profile.",
        "Update the client, or give it a profile with a bearer token.",
    ),
    KnownError(
        "profile-unreadable",
        Step.CLIENT,
        _PYTHON,
        r"read of closed file|No such file or directory: .{0,300}\.share",
        "The client does not get to read its profile file.",
        "Check the path in front of # in the table's address.",
    ),
    KnownError(
        "address-malformed",
        Step.CLIENT,
        _PYTHON,
        r"Invalid 'url'",
        "The table's address does not have the form profile#share.schema.table.",
        "Copy it from the share's page. Names with a dot cannot be written so.",
    ),
    KnownError(
        "oauth-refused",
        Step.TOKEN,
        "clients with an OAuth profile",
        r"invalid_client|invalid_grant|OAuth token (endpoint|response)",
        "The token endpoint did not accept the client.",
        "Look at the refusals of oauth.token under Activity; check the client's "
        "secret, key or issuer, and its clock.",
    ),
    KnownError(
        "version-not-ready",
        Step.GRANT,
        _ANY,
        r"is not ready to be read yet",
        "Files of that version are not rewritten yet, of which it sees a part.",
        "Prepare the share; ask for no version, which is the newest that is ready.",
    ),
    KnownError(
        "version-vacuumed",
        Step.STORAGE,
        _ANY,
        r"cannot be read any more: files of it were deleted",
        "A vacuum deleted files of the requested version.",
        "Ask for a newer one, or none. A hold spares what a recipient still reads.",
    ),
    KnownError(
        "not-shared-so",
        Step.GRANT,
        _ANY,
        r"are not shared(?: before version \d{1,20})?: only a part"
        r"|is not offered as a directory|cannot be read as Iceberg"
        r"|is not shared with its history|is shared from version \d{1,20} on",
        "What is shared of the table cannot be read in this way; it says why.",
        "Read its newest version by the sharing protocol, or share more of it.",
    ),
    KnownError(
        "delta-format-needed",
        Step.FORMAT,
        _ANY,
        r"UNSUPPORTED_DELTA_TABLE_FEATURES|Unsupported Delta Table Properties"
        r"|Delta protocol version .{0,40} is too new|requires a newer version"
        r"|responseformat|cannot be read in the \w{1,20} format",
        "The table has features that the client does not read in its format.",
        "Use delta-sharing 1.1 or newer, or delta-sharing-spark 3.1 or newer with the "
        'option responseFormat "delta". Readers, on the table\'s page, has which.',
    ),
    KnownError(
        "type-not-read",
        Step.FORMAT,
        _PYTHON,
        r"Could not parse datatype",
        "The parquet format of this client does not know a type of a column.",
        "Read it by load_as_pandas(url, use_delta_format=True).",
    ),
    KnownError(
        "line-not-known",
        Step.FORMAT,
        _PYTHON,
        r"KeyError: '(file|partitionValues|metaData|protocol)'"
        r"|No table metadata found in delta log",
        "The client meets a line of the answer that it does not know.",
        "Update the client.",
    ),
    KnownError(
        "url-expired",
        Step.STORAGE,
        _ANY,
        r"Request has expired|ExpiredToken|not valid in the specified time frame"
        r"|FileNotFoundError: .{0,20}https?://",
        "The address of a file was refused: it has expired, or the client cannot "
        "reach the store.",
        "Read again, a part at a time; raise DELTAWEB_FILE_URL_LIFETIME_S for long "
        "reads, and let the recipient's network reach the store of the table.",
    ),
    KnownError(
        "url-changed",
        Step.STORAGE,
        _ANY,
        r"SignatureDoesNotMatch|Object at location .{0,2000} not found",
        "The address of a file does not arrive as it was signed.",
        "Let no proxy rewrite addresses, and update the client.",
    ),
    KnownError(
        "not-a-parquet-file",
        Step.STORAGE,
        _KERNEL,
        r"Corrupt footer|Could not parse metadata: bad data"
        r"|Parquet magic bytes not found",
        "What came in the place of a file is none: the page of a proxy, or the "
        "refusal of an address that has expired.",
        "Let the doctor fetch a file, and read again with fresh addresses.",
    ),
    KnownError(
        "encrypted-by-customer-key",
        Step.STORAGE,
        "Power BI and others",
        r"stored using a form of Server Side Encryption",
        "The files are encrypted by a key that each request would have to send.",
        "Keep shared tables in a bucket without SSE-C.",
    ),
    KnownError(
        "table-not-granted",
        Step.GRANT,
        _ANY,
        r"The (share|schema|table) '.{1,700}' does not exist"
        r"|RESOURCE_DOES_NOT_EXIST",
        "The recipient has no such table: it is not granted, renamed, or its files "
        "are missing.",
        "Compare the name with what See as recipient lists.",
    ),
    KnownError(
        "limit-reached",
        Step.GRANT,
        _ANY,
        r"a month, and that is used up",
        "The recipient was offered as much as its limit of the month lets it.",
        "Raise the limit on the page of its use, or let it read by a condition.",
    ),
    KnownError(
        "too-many-requests",
        Step.HTTP,
        _ANY,
        r"RESOURCE_EXHAUSTED|429 Client Error|Too Many Requests",
        "The recipient asked more at once than it may.",
        "Let it wait as long as Retry-After says, and read fewer tables at once.",
        is_general=True,
    ),
    KnownError(
        "another-server-answers",
        Step.HTTP,
        _ANY,
        r"JSONDecodeError|Expecting value: line 1|Unexpected character \('<'"
        r"|Missing delta-table-version header|Cannot find Delta-Table-Version",
        "Something else than this server answers at the endpoint.",
        "Compare the endpoint of the profile with DELTAWEB_PUBLIC_URL, its prefix "
        "too, and look at what the proxy answers itself.",
    ),
    KnownError(
        "proxy-refuses",
        Step.HTTP,
        _ANY,
        r"ProxyError|Tunnel connection failed|Proxy Authentication Required",
        "A proxy at the client's side does not let it out.",
        "Let the recipient allow the endpoint and the store, or set HTTPS_PROXY.",
    ),
    KnownError(
        "gateway-fails",
        Step.HTTP,
        _ANY,
        r"502 (Server Error|Bad Gateway)|503 (Server Error|Service Unavailable)"
        r"|504 (Server Error|Gateway Time-?out)",
        "The proxy in front of this server does not reach it, or gives up waiting.",
        "See whether the server runs; raise the proxy's time to wait for large lists.",
    ),
    KnownError(
        "connection-refused",
        Step.HTTP,
        _ANY,
        r"connection refused|ConnectionRefusedError|ConnectException"
        r"|Failed to establish a new connection|actively refused",
        "Nothing listens where the client knocks.",
        "See whether the server runs, and on which address and port; then the "
        "firewalls between.",
    ),
    KnownError(
        "timed-out",
        Step.HTTP,
        _ANY,
        r"ConnectTimeout|ReadTimeout|SocketTimeoutException|timed out|longer than",
        "No answer came in time.",
        "Look for a firewall between; ask for fewer rows, or by a condition.",
        is_general=True,
    ),
    KnownError(
        "spark-connector-missing",
        Step.CLIENT,
        _SPARK,
        r"DeltaDataSource could not be instantiated|data source: deltaSharing"
        r"|ClassNotFoundException: .{0,40}deltaSharing|No active SparkSession"
        r"|Unable to import pyspark",
        "Spark runs without the connector, or with one for another Spark or Scala.",
        "Start Spark with the package io.delta:delta-sharing-spark of its own version.",
    ),
    KnownError(
        "duckdb-extension-missing",
        Step.CLIENT,
        "DuckDB",
        r"Failed to download extension|automatically install the required extension",
        "DuckDB does not get to load an extension.",
        "Install it where there is a network, or read by delta-sharing for Python.",
    ),
    KnownError(
        "not-let-in",
        Step.TOKEN,
        _ANY,
        r"401 Client Error|401 Unauthorized|\(HTTP 401\)|UNAUTHENTICATED"
        r"|couldn't authenticate with the credentials",
        "The token was not accepted.",
        "See the recipient's tokens: it may have ended, or the profile is of another "
        "server. Check DELTAWEB_PUBLIC_URL.",
        is_general=True,
    ),
    KnownError(
        "not-allowed",
        Step.TOKEN,
        _ANY,
        r"403 Client Error|403 Forbidden|\(HTTP 403\)|PERMISSION_DENIED"
        r"|resource is forbidden",
        "The client may not do this, mostly because of its address.",
        "See the recipient's allow list; for a file, the permissions of the store.",
        is_general=True,
    ),
    KnownError(
        "not-found",
        Step.GRANT,
        _ANY,
        r"404 Client Error|404 Not Found",
        "The table is not granted, or the endpoint leads elsewhere.",
        "Compare the name with what See as recipient lists, and the endpoint with "
        "DELTAWEB_PUBLIC_URL.",
        is_general=True,
    ),
    KnownError(
        "no-connection",
        Step.HTTP,
        _ANY,
        r"ConnectionError|Max retries exceeded|connection (was )?reset"
        r"|RemoteDisconnected|unable to connect",
        "The connection broke off, or was not made.",
        "See whether the server runs and the client's network reaches "
        "DELTAWEB_PUBLIC_URL.",
        is_general=True,
    ),
)
