"""deltaweb: a browser for Delta tables and a Delta Sharing server.

Read in this order:

    delta      the transaction log as values and pure functions
    storage    object stores behind fsspec: how bytes arrive
    table      DeltaTable, the public Python API
    sharing    the Delta Sharing protocol as values
    index      what is kept of a table for pages: file index and summaries
    samples    the sample tables of a first start
    spark      the pipeline on PySpark
    settings   every setting, from DELTAWEB_* variables; env has the typed reads

This module imports nothing: Spark executors and library users load the packages
without Django or Celery.
"""
