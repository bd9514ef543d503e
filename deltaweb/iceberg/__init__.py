"""A version of a Delta table as an Iceberg table: metadata made of what its log says.

Read the modules in this order:

    errors       why a version cannot be told as Iceberg
    schema       columns with field ids, and the names that files have for them
    values       single values, as bounds and as partition values
    files        the data files of a version, row for row with what is known of them
    row_counts   rows of files of which the log does not say how many they have
    avro         columns of values as Avro, many rows at once
    avro_schemas the schemas of such rows
    manifests    manifests and their list
    objects      all that is made for a version, by its name
    puffin       deletion vectors, as files of their own
    metadata     `metadata.json`
    access       keys for clients, names of objects, and who has signed a request

Nothing here opens a file or knows of a web server. Terms are those of the Iceberg
specification, https://iceberg.apache.org/spec/.
"""
