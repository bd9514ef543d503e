"""Thrift's compact protocol, read with bounds.

layouts      which fields of a struct are wanted
reader       values, one after the other
usual_bytes  what most parts of a footer are, to go past them quickly
"""
