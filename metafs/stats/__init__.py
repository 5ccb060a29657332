"""Statistics on plain arrays: bins, information, shrinkage, maps of quality, BLAS threads."""
