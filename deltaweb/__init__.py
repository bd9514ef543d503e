"""deltaweb: a browser for Delta tables and a Delta Sharing server.

Read in this order:

    parquet      Parquet files by themselves
    delta        the transaction log as values and pure functions
    storage      object stores behind fsspec: how bytes arrive
    table        DeltaTable, the public Python API: `from deltaweb import DeltaTable`
    errors       each error of the library by its name, to catch it
    words        counts, sizes and lengths of time as people read them
    sharing      the Delta Sharing protocol as values
    index        what is kept of a table for pages: file index and summaries
    samples      the sample tables of a first start
    spark        the pipeline on PySpark
    environment  DELTAWEB_* variables, the home folder, logs, production mode
    settings     every setting
    serving      how the web server runs
    management   what the commands `serve`, `web`, `worker` and `beat` do

The Django apps are in `apps`, beside this package, and in `_site` of a wheel
(`environment/site`). They are thin shells over these packages, the lower ones first:

    pages      what every page shares, and the registries that other apps fill
    accounts   users, sign-in, API keys
    audit      the append-only record of calls and changes
    jobs       runs of background work
    tables     the catalogue, and what is indexed of each table
    explorer   read-only pages over a table
    sharing    shares, recipients, tokens, their pages, and the protocol over HTTP

This module imports nothing of the project before it is asked for something: Spark
executors and library users load the packages without Django or Celery. It sets nothing
for the process either: what ours set for themselves is in `environment/own_process`.
"""

from typing import TYPE_CHECKING

from deltaweb.lazy import names_on_demand

if TYPE_CHECKING:
    from deltaweb.table import DeltaTable

    __version__: str
else:
    __getattr__ = names_on_demand(
        __name__,
        {"DeltaTable": "deltaweb.table", "__version__": "deltaweb.version"},
    )

__all__ = ["DeltaTable", "__version__"]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
