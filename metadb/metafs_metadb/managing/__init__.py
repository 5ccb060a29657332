"""What people do to a memory: forget, exclude, export, merge."""
