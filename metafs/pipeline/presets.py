r"""Presets: settings that belong together, under a name.

``paper`` is the published system and nothing else: B. Goertzel, N. Geisweiller, C. Poulin,
"Meta-learning for feature selection", 2021, sections 3 and 4, with the settings of section 4.6, in
which its speed-up is largest.

- 3.3.2: start from the features with :math:`P_D(s) \ge t`, over the k nearest problems, whatever
  their distance (``transfer``, ``neighbours``, ``threshold``, ``c``).
- 3.3.3: the distance of whole rows with the target as a bit (``distance``).
- 3.4.1 and 3.4.2: the climb with M evaluations (``selector``, ``budget``), whose fitness has the
  parameters b and r (``measure__b`` and ``measure__r`` of ``params``).
- 3.5: MOSES, scored by minus the number of errors (``learner``, ``scoring``).
- 3.6: Q = q(s) (``quality``).
- 4.2: features below a mutual information are left out (``prefilter``).
"""

from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

from metafs.errors import UsageError

PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "paper": MappingProxyType(
            {
                "selector": "climb",
                "learner": "moses",
                "scoring": "neg_errors",
                "distance": "jsd-all-rows",
                "transfer": "paper",
                "neighbours": 5,
                "threshold": 0.1,
                "c": 0.001,
                "quality": "selector",
                "prefilter": 0.05,
                "budget": 1000,
            }
        )
    }
)


def preset_named(name: str) -> Mapping[str, Any]:
    """Return the settings of a preset.

    Examples
    --------
    >>> preset_named("paper")["learner"]
    'moses'
    """
    if name not in PRESETS:
        near = get_close_matches(name, PRESETS, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(PRESETS)}."
        raise UsageError(f"there is no preset named {name!r}: {hint}")
    return PRESETS[name]
