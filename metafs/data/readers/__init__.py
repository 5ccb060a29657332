"""Reading problems from files, folders, streams and built-in demonstrations."""

from metafs.data.readers.source import ReadOptions, Source
from metafs.data.readers.sources import sources, sources_of_frames

__all__ = ["ReadOptions", "Source", "sources", "sources_of_frames"]
