"""Signal Search: evidence rather than links."""
