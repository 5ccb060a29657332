"""Progress of a command, on stderr: see `metafs.pipeline.display.progress`."""

from metafs.pipeline.display.progress import Progress, format_seconds

__all__ = ["Progress", "format_seconds"]
