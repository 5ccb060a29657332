"""Models of solved problems: in hand, in files of a folder, and from the weights of the MetaDB."""
