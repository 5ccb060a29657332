"""Reading problems from files, folders, streams and built-in demonstrations."""

from metafs.readers.source import ReadOptions, Source
from metafs.readers.sources import sources

__all__ = ["ReadOptions", "Source", "sources"]
