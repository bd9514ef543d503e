"""Decisions of an administrator after a restore.

Read `revivals`, then `changes`.
"""
