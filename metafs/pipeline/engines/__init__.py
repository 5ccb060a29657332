"""Where problems are solved: worker processes of this machine or of a cluster, and Ctrl-C there."""
