"""What people ask of a memory: lists, a stored run, a report, their own SQL."""
