// The last part of every page: what came before is only definitions.
follow();
