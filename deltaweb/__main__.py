"""The command `deltaweb`: Django's management commands, from any folder."""

import io
import os
import sys

from deltaweb.environment.garbage import few_looks
from deltaweb.environment.without_pandas import refuse_pandas

SHELL = "shell"  # a person's own process: pandas is theirs to import
SERVING = (["serve"], ["web"])
PORT = "8000"


def main() -> None:
    """Run one management command; what its environment lacks is one sentence."""
    with few_looks():
        _run()


def _run() -> None:
    if sys.argv[1:2] != [SHELL]:
        refuse_pandas()
    # numpy's algebra, which is not used, starts a thread a core when it is loaded.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "deltaweb.settings")
    if sys.argv[1:2] in SERVING and not os.environ.get("PORT"):
        os.environ["PORT"] = PORT  # not that of the address served last
    from django.core.exceptions import ImproperlyConfigured  # noqa: PLC0415
    from django.core.management import execute_from_command_line  # noqa: PLC0415
    from django.db.utils import OperationalError  # noqa: PLC0415

    # A log may hold halves of characters, which no encoding has; in JSON this is
    # their very spelling.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"Error: {error}")
    except OperationalError as error:
        reason = str(error).partition("\n")[0]
        sys.exit(
            f"Error: The database does not answer: {reason}."
            " See DELTAWEB_DATABASE_URL and DELTAWEB_HOME."
        )


if __name__ == "__main__":
    main()
