"""One file for each peer: how it is run as its users run it, at its best."""
