"""How a process says that it is ready, to the one that started it.

It sends a byte on the socket that a variable names, and waits until that is closed:
what the other does then comes before whatever this process does.
"""

import os
import socket
from typing import Final

READY_VARIABLE: Final = "DELTAWEB_READY_SOCKET"


def tell_ready() -> None:
    """Tell the supervisor that this process is ready; wait until it has heard."""
    if descriptor := os.environ.pop(READY_VARIABLE, ""):
        with socket.socket(fileno=int(descriptor)) as supervisor:
            supervisor.sendall(b"1")
            supervisor.recv(1)
