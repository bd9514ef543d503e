"""The command line with input that no terminal shows."""

import json
from pathlib import Path

from tests.support.logs.delta_logs import add, metadata, protocol
from tests.support.processes.installation import run


def test_halves_of_characters_in_a_log_are_written_as_their_escapes(tmp_path: Path):
    log = tmp_path / "orders" / "_delta_log"
    log.mkdir(parents=True)
    info = {"commitInfo": {"timestamp": 1, "operation": "WRITE", "userName": "a\ud800"}}
    actions = [info, protocol(), metadata(), add("p.parquet")]
    text = "\n".join(json.dumps(action) for action in actions)
    (log / "00000000000000000000.json").write_text(text)

    done = run(tmp_path, "table", "history", str(tmp_path / "orders"), "--json")

    assert done.returncode == 0, done.stderr
    (commit,) = json.loads(done.stdout)
    assert "a\ud800" in json.dumps(commit, ensure_ascii=False)
