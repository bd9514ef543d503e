"""The Iceberg metadata of a version of a Delta table.

`metadata` makes `metadata.json`, `manifests` the manifest files, and `puffin` the
deletion vectors. Nothing here opens a file or knows a web server.

Source: the Iceberg specification, https://iceberg.apache.org/spec/.
"""
