"""What the benchmark of the web server asks for: a page, a file, a stream, a body."""

import logging
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import waitress

PAGE: Final = b"a line of a page, of forty characters.\n" * 512
PART_BYTES: Final = 1 << 16
NUM_PARTS: Final = 24 * 16  # 24 MiB: no buffer of a connection holds it
Start = Callable[..., Any]


class Stream:
    """An answer that is made while it is sent."""

    may_wait = True

    def __iter__(self) -> Iterator[bytes]:
        return (bytes(PART_BYTES) for _ in range(NUM_PARTS))

    def close(self) -> None:
        """End it."""


def application(environ: dict[str, Any], start_response: Start) -> Iterable[bytes]:
    """Answer by the path."""
    path = environ["PATH_INFO"]
    if path == "/stream":
        start_response("200 OK", [("Content-Type", "text/plain")])
        return Stream()
    if path == "/file":
        file = Path(os.environ["BENCH_FILE"])
        length = str(file.stat().st_size)
        start_response("200 OK", [("Content-Length", length)])
        opened = file.open("rb")
        return environ["wsgi.file_wrapper"](opened, PART_BYTES)
    length = environ.get("CONTENT_LENGTH") or "0"
    if environ["REQUEST_METHOD"] == "POST":
        environ["wsgi.input"].read()
    start_response("200 OK", [("Content-Length", str(len(PAGE)))])
    return [PAGE]


if __name__ == "__main__":
    logging.getLogger("waitress").setLevel(logging.ERROR)
    waitress.serve(
        application,
        port=int(sys.argv[1]),
        threads=int(sys.argv[2]),
        connection_limit=8000,
        max_request_body_size=4 << 20,
        asyncore_use_poll=True,
    )
