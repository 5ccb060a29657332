"""The DuckDB file of a MetaDB: opened in short visits, migrated, checked, copied."""
