"""Reading problems from files, folders, streams and built-in demonstrations."""

from metafs.data.readers.source import ReadOptions, Source
from metafs.data.readers.sources import sources

__all__ = ["ReadOptions", "Source", "sources"]
