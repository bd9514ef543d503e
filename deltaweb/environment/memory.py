"""How much memory processes have, and whether the system has ended one for it."""

import resource
from pathlib import Path
from typing import Final

RETIRE_BYTES: Final = 1 << 30  # of a process's own memory: another takes its place
RETIRE_AFTER_S: Final = 60.0  # not sooner: the next one would do the same
_COUNTERS: Final = (Path("/proc/vmstat"), Path("/sys/fs/cgroup/memory.events"))


def own_bytes(pid: int | str = "self") -> int:
    """Return the resident memory of a process, mapped files left out; 0 without it."""
    try:
        text = Path(f"/proc/{pid}/statm").read_text(encoding="ascii")
    except OSError:
        return 0
    fields = text.split()
    return (int(fields[1]) - int(fields[2])) * resource.getpagesize()


def memory_kills() -> int:
    """Return how many processes the system has ended so far because memory was short.

    Of this machine, and of this container where it is one.
    """
    return sum(map(_kills, _COUNTERS))


def _kills(path: Path) -> int:
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    counts = dict(line.split()[:2] for line in lines if line.strip())
    return int(counts.get("oom_kill", 0))
