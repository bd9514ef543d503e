"""How a process says that it is ready, to the one that started it.

It loads its program, then waits for a byte on the socket that a variable names: what it
needs, such as the database, may be prepared meanwhile. When it is ready, it sends a
byte and waits until the socket is closed: what the other does then comes before
whatever this process does.
"""

import os
import socket
import sys
from typing import Final

READY_VARIABLE: Final = "DELTAWEB_READY_SOCKET"


def wait_until_released() -> None:
    """Wait until the supervisor runs its children; end if it died before that."""
    descriptor = os.environ.get(READY_VARIABLE, "")
    if descriptor and not os.read(int(descriptor), 1):
        sys.exit(1)


def tell_ready() -> None:
    """Tell the supervisor that this process is ready; wait until it has heard."""
    if descriptor := os.environ.pop(READY_VARIABLE, ""):
        with socket.socket(fileno=int(descriptor)) as supervisor:
            supervisor.sendall(b"1")
            while supervisor.recv(1):  # it may have released this process, unasked
                pass
