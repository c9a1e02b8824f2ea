"""`python -m jaxbandits.cli`, for where the console script is not on the path."""

from jaxbandits.cli import main

raise SystemExit(main())
