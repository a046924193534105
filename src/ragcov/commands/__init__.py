"""What each command of the command line does: one module a command, with `run(options) -> exit code`."""

__all__ = ["EXIT_BELOW", "EXIT_FAILED", "EXIT_INTERRUPTED", "EXIT_OK", "EXIT_USAGE"]

EXIT_OK, EXIT_BELOW, EXIT_USAGE, EXIT_FAILED, EXIT_INTERRUPTED = 0, 1, 2, 3, 130
