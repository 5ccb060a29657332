"""Infinite feature selection: features as nodes of a graph, sets as paths through it."""
