"""The problems nearest to another one: their signatures, the search in SQL and by an index."""
