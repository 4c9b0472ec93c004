"""``python -m fwsr``: the command line program."""

from fwsr_cli import main

if __name__ == "__main__":
    main()
