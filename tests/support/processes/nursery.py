"""A process that has loaded what workers load; each worker of a test is a copy of it.

python -m tests.support.processes.lean tests.support.processes.nursery MODULE

A worker that starts by itself takes two seconds of a processor to load the same again.
The module has `work`, what a copy does to its end, and `answer`, which one more copy
does for all that is asked. A line of the input is a list of words, as JSON, and is
answered by a line of JSON:

["begin", "a", "b"]   begins work("a", "b"): the number of its process
["ended", 123]        how that process ended, as `subprocess` has it; null before
["a", "b"]            what answer("a", "b") returns
"""

import json
import os
import sys
import traceback
from collections.abc import Callable
from functools import partial
from importlib import import_module
from multiprocessing import Pipe
from typing import Any


def main() -> None:
    """Load, and answer each line of the input."""
    import_module("deltaweb.management.loaded")
    module = import_module(sys.argv[1])
    ask = _clerk(module.answer)
    codes: dict[int, int] = {}
    for line in sys.stdin:
        said: object
        match json.loads(line):
            case ["begin", *words]:
                said = _forked(partial(module.work, *words))
            case ["ended", int(pid)]:
                said = _ended(pid, codes)
            case words:
                said = ask(words)
        print(json.dumps(said), flush=True)  # noqa: T201 (an answer)


def _forked(work: Callable[[], object]) -> int:
    """Do work in a copy of this process, whose output is its log."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), sys.stdin.fileno())
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        work()
        code = 0
    except SystemExit as ending:
        code = ending.code if isinstance(ending.code, int) else int(bool(ending.code))
    except BaseException:  # noqa: BLE001 (whatever ends it is in the log)
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _ended(pid: int, codes: dict[int, int]) -> int | None:
    if pid not in codes:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if not ended:
            return None
        codes[pid] = os.waitstatus_to_exitcode(status)
    return codes[pid]


def _clerk(answer: Callable[..., object]) -> Callable[[list[str]], Any]:
    """Return what asks a copy of this process that answers one question after another.

    It may open a database and a broker, which processes that fork must not have.
    """
    ours, theirs = Pipe()

    def serve() -> None:
        ours.close()
        while True:
            theirs.send(answer(*theirs.recv()))

    def ask(words: list[str]) -> Any:  # noqa: ANN401 (whatever is answered)
        ours.send(words)
        return ours.recv()

    _forked(serve)
    theirs.close()
    return ask


if __name__ == "__main__":
    main()
