"""A query's sink in forks that are killed, called as Spark calls it, without a JVM.

    python -m tests.spark.writing.killed_sinks FOLDER KILLS BATCHES

Spark's part is small: it plans a batch, has tasks write, commits, and notes the batch;
begun again, it takes the first batch that is not noted. No Arrow is used in the process
that forks: what it began would be gone in the fork.
"""

import json
import os
import random
import signal
import sys
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyspark.taskcontext
from pyspark.sql.types import LongType, StructField, StructType

import deltaweb.storage.local
import deltaweb.writer.append  # noqa: F401  # loaded before the forks, as above
from deltaweb.spark.writing.source.options import SourceOptions
from deltaweb.spark.writing.source.stream_writer import QUERY_ID, StreamWriter
from tests.support.processes.killed_writers import WRITES, is_writing
from tests.support.processes.racing_writers import forked

COLUMNS: Final = StructType([StructField("n", LongType())])
TASKS: Final = 2
ROWS_A_TASK: Final = 3
STEPS_A_LIFE: Final = 40
"""Steps that a process takes at most before it is killed: of some batches."""


def batch_rows(batch: int, task: int) -> pa.RecordBatch:
    """The rows of a task: their numbers are those of no other."""
    first = (batch * TASKS + task) * ROWS_A_TASK
    numbers = pa.array(range(first, first + ROWS_A_TASK), pa.int64())
    return pa.RecordBatch.from_arrays([numbers], ["n"])


def copy(folder: Path, batches: int) -> None:
    """Write the batches that are not noted yet."""
    context = pyspark.taskcontext.TaskContext()
    context._localProperties = {QUERY_ID: "the query"}  # noqa: SLF001  # as a worker has it
    pyspark.taskcontext.TaskContext._setTaskContext(context)  # noqa: SLF001  # as above
    noted = folder / "noted"
    for batch in range(len([*noted.iterdir()]), batches):
        tasks = new_writer(folder)
        messages = [
            tasks.write(iter([batch_rows(batch, task)])) for task in range(TASKS)
        ]
        new_writer(folder).commit(messages, batch)
        (noted / str(batch)).write_text("")


def new_writer(folder: Path) -> StreamWriter:
    """Another one, as Spark makes for tasks, and for the commit."""
    options = SourceOptions({"path": str(folder / "sink")})
    return StreamWriter(options, COLUMNS, overwrite=False)


def killed_at(step: int, folder: Path, batches: int) -> None:
    """Copy until the step of that number is about to be taken."""
    steps = 0

    def count(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal steps
        if event in WRITES and str(folder) in str(arguments[0]):
            if event == "open" and not is_writing(arguments):
                return
            steps += 1
            if steps == step:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    copy(folder, batches)


def main(folder: Path, kills: int, batches: int) -> None:
    """Kill copies; after so many let one end, and note where they were killed."""
    (folder / "noted").mkdir()
    drawn = random.Random(kills)
    killed: list[int] = []
    while len(killed) < kills:
        step = drawn.randrange(1, STEPS_A_LIFE)
        (status,) = forked(1, lambda _: killed_at(step, folder, batches))  # noqa: B023  # called at once
        if not status:
            break
        killed.append(step)
    assert forked(1, lambda _: copy(folder, batches)) == [0]
    (folder / "killed").write_text(json.dumps(killed))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
