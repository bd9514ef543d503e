"""Ports of this machine for the servers that tests start."""

import itertools
import os
import socket
from typing import Final

# Below those that the kernel gives to outgoing connections: nobody else takes one
# between the look at it here and the start of its server.
FIRST: Final = 11_000
COUNT: Final = 20_000

_numbers = itertools.count(os.getpid() * 97)


def free_port() -> int:
    """A port of 127.0.0.1 that nobody uses; each call of a process has another."""
    for number in itertools.islice(_numbers, COUNT):
        port = FIRST + number % COUNT
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
    message = f"Every port from {FIRST} on is in use."
    raise RuntimeError(message)
