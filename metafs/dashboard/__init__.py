"""The page about a memory, live: served on this machine while `metafs solve` runs."""
