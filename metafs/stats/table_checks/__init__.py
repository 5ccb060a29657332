"""Checks of a table before it is solved: columns and rows that make its score worth less."""
