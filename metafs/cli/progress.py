"""Progress of a command, on stderr: see `metafs.pipeline.progress`."""

from metafs.pipeline.progress import Progress, format_seconds

__all__ = ["Progress", "format_seconds"]
