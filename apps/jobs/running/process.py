"""Names of processes that tell, on the same machine, whether their bearer still lives.

A lease carries the name of the process that holds it. A sweep on the same machine
then sees at once that a killed worker is gone, and need not wait for the lease to
run out; of a process elsewhere it knows nothing and waits.
"""

import os
import socket
from functools import cache
from pathlib import Path

_START_TIME_FIELD = 22  # of /proc/<pid>/stat, counted from 1; see proc(5)


@cache
def machine_name() -> str:
    """Name the host and, where there is one, its process-id namespace."""
    try:
        namespace = Path("/proc/self/ns/pid").readlink().name.strip("pid:[]")
    except OSError:
        namespace = ""
    return f"{socket.gethostname()}/{namespace}"


def process_name(pid: int | None = None) -> str:
    """Name a process, by default this one: machine, id and when it started."""
    pid = os.getpid() if pid is None else pid
    return f"{machine_name()}/{pid}/{_start_time(pid) or ''}"


def short_name(name: str) -> str:
    """Return what people read of a process's name: `host, process 4711`."""
    machine, pid, _ = ("", "", *name.rsplit("/", 2))[-3:]
    host = machine.partition("/")[0]
    return f"{host}, process {pid}" if host and pid.isdecimal() else name


def is_known_dead(name: str) -> bool:
    """Whether the process of that name surely runs no more; False when in doubt."""
    return _is_running(name) is False


def is_known_alive(name: str) -> bool:
    """Whether the process of that name surely runs; False when in doubt."""
    return _is_running(name) is True


def _is_running(name: str) -> bool | None:
    """Tell whether a process of this machine runs; None of one that is elsewhere."""
    machine, pid, started = ("", "", *name.rsplit("/", 2))[-3:]
    if machine != machine_name() or not pid.isdecimal() or not started:
        return None
    return _start_time(int(pid)) == started


def _start_time(pid: int) -> str | None:
    """Return when a process started, in ticks since boot; None without such one."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    # The second field is the program's name in parentheses and may hold spaces.
    fields = stat.rpartition(")")[2].split()
    if fields[0] in {"Z", "X"}:  # killed, and not yet fetched by its parent
        return None
    return fields[_START_TIME_FIELD - 3]
