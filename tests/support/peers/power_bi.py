"""The requests of Power BI's Delta Sharing connector, which runs on Windows alone.

It is given a server URL, a token and a row limit, and shows a tree of shares, schemas
and tables. Of a table it gets the files in the parquet format, whole, and reads each as
plain Parquet: it names no capability, so it knows nothing of vectors or mapped columns.

Source: learn.microsoft.com, "Power Query connectors: Delta Sharing" (import alone, key
or OAuth, a limit of one million rows unless another is typed).
"""

import datetime as dt
import decimal
import io
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq
import requests

ROW_LIMIT: Final = 1_000_000
AGENT: Final = "Microsoft.Data.Mashup (https://go.microsoft.com/fwlink/?LinkID=304225)"
TIMEOUT_S: Final = 60
_TYPED: Final[Mapping[str, Callable[[str], Any]]] = {
    **dict.fromkeys(("byte", "short", "integer", "long"), int),
    **dict.fromkeys(("float", "double"), float),
    "boolean": lambda text: text == "true",
    "date": dt.date.fromisoformat,
    "timestamp": dt.datetime.fromisoformat,
    "binary": lambda text: text.encode(),
}


class RefusedError(Exception):
    """An answer of the server that is no success; the connector shows its message."""

    def __init__(self, answer: requests.Response) -> None:
        super().__init__(f"{answer.status_code}: {answer.text[:2000]}")


class PowerBI:
    """The connector with a profile's server URL and token."""

    def __init__(self, profile: Path) -> None:
        said = json.loads(profile.read_text(encoding="utf-8"))
        self._url = said["endpoint"].rstrip("/")
        self._headers = {
            "Authorization": f"Bearer {said['bearerToken']}",
            "User-Agent": AGENT,
        }

    def tree(self) -> dict[str, dict[str, list[str]]]:
        """The tables by schema and share, as the navigator shows them."""
        return {
            share: {
                schema: self._names(f"shares/{share}/schemas/{schema}/tables")
                for schema in self._names(f"shares/{share}/schemas")
            }
            for share in self._names("shares")
        }

    def rows(
        self, share: str, schema: str, table: str, *, limit: int = ROW_LIMIT
    ) -> list[dict[str, Any]]:
        """The rows of a table, as far as the limit."""
        place = f"shares/{share}/schemas/{schema}/tables/{table}/query"
        answer = self._checked(
            requests.post(
                f"{self._url}/{place}",
                json={"limitHint": limit},
                headers=self._headers,
                timeout=TIMEOUT_S,
            )
        )
        _, head, *files = map(json.loads, answer.text.split("\n")[:-1])
        metadata = head["metaData"]
        types = {
            field["name"]: field["type"]
            for field in json.loads(metadata["schemaString"])["fields"]
        }
        found: list[dict[str, Any]] = []
        for line in files:
            found += self._rows_of(line["file"], types)
            if len(found) >= limit:
                break
        return found[:limit]

    def _rows_of(
        self, file: Mapping[str, Any], types: Mapping[str, Any]
    ) -> Iterator[dict[str, Any]]:
        body = self._checked(requests.get(file["url"], timeout=TIMEOUT_S)).content
        read = pq.ParquetFile(io.BytesIO(body), coerce_int96_timestamp_unit="us").read()
        values = {
            name: _value(text, types[name])
            for name, text in file["partitionValues"].items()
        }
        for row in read.to_pylist():
            yield {name: values.get(name, row.get(name)) for name in types}

    def _names(self, place: str) -> list[str]:
        """The names in a list, page by page."""
        names, page = [], ""
        while True:
            answer = self._checked(
                requests.get(
                    f"{self._url}/{place}",
                    params={"pageToken": page} if page else None,
                    headers=self._headers,
                    timeout=TIMEOUT_S,
                )
            ).json()
            names += [one["name"] for one in answer["items"]]
            page = answer.get("nextPageToken", "")
            if not page:
                return names

    @staticmethod
    def _checked(answer: requests.Response) -> requests.Response:
        if not answer.ok:
            raise RefusedError(answer)
        return answer


def _value(text: str | None, kind: Any) -> Any:  # noqa: ANN401 (of any type)
    if not text:  # An empty text is NULL, as in the log.
        return None
    if isinstance(kind, str) and kind.startswith("decimal"):
        return decimal.Decimal(text)
    return _TYPED.get(kind, str)(text)
