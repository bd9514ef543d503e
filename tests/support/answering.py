"""Servers within the process of the tests."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import HTTPServer
from typing import Final

LOOKED_EVERY_S: Final = (
    0.02  # whether it is to end: by itself a server looks each 0.5 s
)


@contextmanager
def answering(server: HTTPServer) -> Iterator[int]:
    """Let a server answer beside what the test does; give its port."""
    thread = threading.Thread(target=server.serve_forever, args=(LOOKED_EVERY_S,))
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
