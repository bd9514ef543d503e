"""Asks a process of `kept_commands` to run a command, and ends as that does.

As a script, this is the command: it gives away its arguments, its folder and its
streams. It starts within a hundredth of a second, for it needs no package.

python -I -S asking.py SOCKET deltaweb table list
"""

import json
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

LENGTH_BYTES = 4
CODE_BYTES = 2  # of what the process ended with, negative for a signal


def ask(at: str, line: Sequence[str], folder: str, streams: Sequence[int]) -> int:
    """Have a command run where the socket is; return what it ended with.

    Its input, output and errors are those that are open under three numbers.
    """
    told = json.dumps([line, folder]).encode()
    with socket.socket(socket.AF_UNIX) as asked:
        asked.connect(at)
        socket.send_fds(asked, [len(told).to_bytes(LENGTH_BYTES)], streams)
        asked.sendall(told)
        return int.from_bytes(asked.recv(CODE_BYTES), signed=True)


if __name__ == "__main__":
    code = ask(sys.argv[1], sys.argv[2:], str(Path.cwd()), (0, 1, 2))
    sys.exit(code if code >= 0 else 128 - code)
