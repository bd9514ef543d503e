"""Credentials for a while that read one folder of an object store and nothing else.

Source: delta_sharing_protocol_2026.md, "Generate Temporary Table Credential".
"""
