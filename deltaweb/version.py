"""The version, read from the newest heading of CHANGELOG.md by a test."""

VERSION = "0.9.0"
__version__ = VERSION
