import correlation_selector
import pytest

from metafs.testing import cases_of


@pytest.mark.parametrize("case", cases_of(correlation_selector), ids=str)
def test_contract(case):
    case()
