"""What people see of a run: progress in a terminal, tables in a notebook."""
