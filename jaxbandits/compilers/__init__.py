"""How programs are written for one compiler: what is here changes speed and no result."""
