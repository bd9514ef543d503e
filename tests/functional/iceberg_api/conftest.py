"""A shared table of real files, and clients of Iceberg that ask for it."""

from tests.functional.sharing_api.conftest import (  # noqa: F401 (fixtures)
    _rates,
    acme,
    lake,
    new_caller,
    written_lake,
)
