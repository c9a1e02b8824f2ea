"""How programs are written for one compiler: these modules change speed and no result."""
