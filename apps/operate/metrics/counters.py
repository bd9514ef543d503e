"""The counters of each process: requests, and calls of recipients.

Source: the web server sets `PROMETHEUS_MULTIPROC_DIR`, where its processes count
together (`deltaweb.serving`).
"""

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram

REGISTRY: Final = CollectorRegistry()
"""That of one process; those of several are read from their folder."""
BUCKETS_S: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
SUCCESSFUL: Final = 400
CLASSES: Final = (
    ("/delta-sharing/", "sharing"),
    ("/iceberg/", "iceberg"),
    ("/portal/", "portal"),
    ("/activate/", "portal"),
    ("/api/", "rest"),
    ("/static/", "static"),
    ("/help/", "help"),
    ("/news", "news"),
)
REQUESTS: Final = Counter(
    "deltaweb_requests",
    "Requests by the class of their address, and by the class of their status.",
    ("route", "status"),
    registry=REGISTRY,
)
SECONDS: Final = Histogram(
    "deltaweb_request_seconds",
    "Seconds until an answer begins.",
    ("route",),
    buckets=BUCKETS_S,
    registry=REGISTRY,
)
CALLS: Final = Counter(
    "deltaweb_sharing_calls",
    "Calls of recipients by their action and by the class of their status.",
    ("action", "status"),
    registry=REGISTRY,
)
OFFERED: Final = Counter(
    "deltaweb_sharing_offered_bytes",
    "Bytes of the files that recipients were offered.",
    registry=REGISTRY,
)


def route_class(path: str) -> str:
    """Return the class of an address: `page`, `json`, `rest`, `sharing`, and so on."""
    for prefix, name in CLASSES:
        if path.startswith(prefix):
            return name
    return "json" if path.endswith((".json", ".csv")) else "page"


def status_class(status: int) -> str:
    """Return `2xx` of 200."""
    return f"{status // 100}xx"


def count_request(path: str, *, status: int, duration_s: float) -> None:
    """Count a request that was answered."""
    route = route_class(path)
    REQUESTS.labels(route, status_class(status)).inc()
    SECONDS.labels(route).observe(duration_s)


def count_call(action: str, *, status: int, size_bytes: int | None) -> None:
    """Count a call of a recipient, and the bytes that it was offered.

    Args:
        action: The name of its record, such as `table.query`.
    """
    CALLS.labels(action, status_class(status)).inc()
    if size_bytes and status < SUCCESSFUL:
        OFFERED.inc(size_bytes)
