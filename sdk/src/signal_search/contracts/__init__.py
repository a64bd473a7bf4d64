"""The nouns that every room and every caller shares: frozen records without behaviour."""
