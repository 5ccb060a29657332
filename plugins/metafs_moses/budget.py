"""What a search may spend: evaluations, exactly, and seconds."""

import time
from dataclasses import dataclass, field


@dataclass
class Budget:
    """Evaluations left and a time to stop at.

    Examples
    --------
    >>> budget = Budget(10)
    >>> budget.grant(8), budget.grant(8), budget.is_spent
    (8, 2, True)
    """

    evaluations: int
    seconds: float | None = None
    used: int = 0
    was_short: bool = False
    started: float = field(default_factory=time.monotonic)

    def grant(self, n: int) -> int:
        """Return how many of n evaluations may be made, and count them as made."""
        granted = 0 if self.is_late else min(n, self.evaluations - self.used)
        self.used += granted
        self.was_short |= granted < n
        return granted

    @property
    def is_late(self) -> bool:
        """Whether the seconds are over."""
        return self.seconds is not None and time.monotonic() - self.started >= self.seconds

    @property
    def is_spent(self) -> bool:
        """Whether nothing may be evaluated any more."""
        return self.used >= self.evaluations or self.is_late
