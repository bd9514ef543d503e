"""What others share with us: their profiles, and the tables that these open.

A provider is a storage connection (how it is reached, sealed) and a lake (what is
looked for, again and again): its tables are registered, indexed and marked as others.
"""
