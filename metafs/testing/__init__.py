"""The contract of each plugin kind, as checks that a plugin's own tests can run.

import pytest
from metafs.testing import cases_of

@pytest.mark.parametrize("case", cases_of(my_plugin), ids=str)
def test_contract(case):
    case()
"""

from metafs.testing.cases import CHECKS, Case, cases, cases_of, check_plugin

__all__ = ["CHECKS", "Case", "cases", "cases_of", "check_plugin"]
