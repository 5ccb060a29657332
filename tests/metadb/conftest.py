"""What the tests of the indexes need."""

import pytest

from .indexing import limits


@pytest.fixture
def indexed():
    """Index even the smallest memory."""
    with limits(0):
        yield
