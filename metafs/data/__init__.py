"""What comes in: problems, their columns and targets, checked once, and the readers of files."""
