"""Thrift's compact protocol, read with bounds.

layouts      which fields of a struct are wanted
cursor       values, one after the other
reader       structs, by what is wanted of them
usual_bytes  what most parts of a footer are, to read them or go past them quickly
"""
