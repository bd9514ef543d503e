"""What the child process of a preview runs: limits first, then the file."""

import json
import os
import resource
import sys
from typing import Any

MAX_ANSWER_BYTES = 16 << 20


def main() -> None:
    """Read a request from standard input, and write the rows to standard output."""
    request = json.load(sys.stdin)
    # Arrow's other allocators reserve more addresses than the limit leaves.
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"
    # Loaded before memory is limited: what follows is what the file takes.
    import pyarrow as pa  # noqa: PLC0415

    from deltaweb.parquet.errors import ParquetError  # noqa: PLC0415
    from deltaweb.parquet.values.reading import read_rows  # noqa: PLC0415

    limit_process(request["memory_bytes"], request["cpu_s"])
    answer: dict[str, Any]
    try:
        with pa.OSFile(request["path"]) as source:
            answer = {"rows": read_rows(source, request["limit"], request["row_group"])}
    except ParquetError as error:
        answer = {"reason": error.reason or str(error), "code": error.code}
    except (MemoryError, RecursionError) as error:
        answer = {
            "reason": f"reading them takes too much memory ({type(error).__name__})"
        }
    text = json.dumps(answer)
    if len(text) > MAX_ANSWER_BYTES:
        mebibytes = len(text) >> 20
        text = json.dumps(
            {"reason": f"they take {mebibytes:,} MiB as text, which is too much"}
        )
    sys.stdout.write(text)


def limit_process(memory_bytes: int, cpu_s: int) -> None:
    """Bound what this process may take from now on, and let it leave no core."""
    with open("/proc/self/statm") as file:  # noqa: PTH123 (no path, a counter)
        used = int(file.read().split()[0]) * resource.getpagesize()
    most = used + memory_bytes
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main()
