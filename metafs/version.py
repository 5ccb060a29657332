"""The version: the build reads it from here, so that it needs no lookup by distribution name."""

__version__ = "0.1.0"
