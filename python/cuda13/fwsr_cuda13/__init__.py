"""The core of fwsr with work on NVIDIA cards built in; fwsr takes it where it is installed."""
