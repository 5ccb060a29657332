"""The command line: parse, call, print; decisions live below."""

from metafs.cli.app import main

__all__ = ["main"]
