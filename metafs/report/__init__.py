"""A page about a memory: what was solved, which features were selected, what memory gained."""

from metafs.report.page import draw
from metafs.report.records import Report, report

__all__ = ["Report", "draw", "report"]
