"""Selectors and learners fitted to a problem, and what is read from them afterwards."""
