"""The cold-against-warm experiment: what memory saves on a stream of problems."""

from metafs.experiment.arms import Arm, arms_named
from metafs.experiment.comparing import Speedup, speedup
from metafs.experiment.design import Design
from metafs.experiment.outcome import Failed, Outcome
from metafs.experiment.result import Experiment
from metafs.experiment.running import run
from metafs.experiment.summary import ArmSummary

__all__ = [
    "Arm",
    "ArmSummary",
    "Design",
    "Experiment",
    "Failed",
    "Outcome",
    "Speedup",
    "arms_named",
    "run",
    "speedup",
]
