"""SQLite and DuckDB: the answer to a query, and records with their links."""
