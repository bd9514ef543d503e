"""The Iceberg door: shares as a REST catalogue, and their files by the protocol of S3.

layouts         a shared table as Iceberg metadata: which versions, under which names
kept            the objects of versions that were made, and are asked for again
files           data files and deletion vectors of tables in any store
responses       answers and refusals, in the forms of the catalogue and of S3
catalog_views   the endpoints of the catalogue
object_view     the objects of tables, read by the keys that the catalogue hands out
"""
