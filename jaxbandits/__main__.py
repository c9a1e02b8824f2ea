"""`python -m jaxbandits`, for where the console script is not on the path; `python -m jaxbandits.cli` does the same."""

from jaxbandits.cli import main

raise SystemExit(main())
