"""What ends a command: one clear line and an exit code."""

# 1 also stands for a rejected run.
EXIT_FAILED = 1
EXIT_BAD_INPUT = 2
# a stored file that cannot be read: analysis.errors.BadInput
EXIT_UNREADABLE = 3


class LabError(Exception):
    """Something the user can act on went wrong; the message is one line."""

    exit_code = EXIT_FAILED


class BadInputError(LabError):
    """The user asked for what cannot be: says what, what is allowed, and where."""

    exit_code = EXIT_BAD_INPUT
