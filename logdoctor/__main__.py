"""`python -m logdoctor` is the installed script."""

from __future__ import annotations

from logdoctor.entry import main

if __name__ == "__main__":
    main()
