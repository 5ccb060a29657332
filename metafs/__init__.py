"""Feature selection that remembers."""
