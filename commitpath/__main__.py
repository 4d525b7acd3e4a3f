"""Command line behind the Makefile: python -m commitpath TARGET."""

import os
import signal
import sys


def main() -> int:
    """Run the command that is named; Ctrl-C and a terminate have one answer, from the first moment on.

    The Makefile blocks SIGINT until the handlers here are there, and what takes long to load is
    loaded after that.
    """
    try:
        # a terminate is answered as Ctrl-C is, what was started is stopped: also in a shell's
        # background job, where SIGINT is ignored
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        # so is a terminal that is closed: a build has a session of its own and does not hear of that
        if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # as nohup leaves it
            signal.signal(signal.SIGHUP, signal.default_int_handler)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        from commitpath import commands
        from commitpath.cell import ROOT

        os.chdir(ROOT)
        return commands.run(sys.argv[1:])
    except KeyboardInterrupt:
        print("commitpath: interrupted; nothing is left running", file=sys.stderr)
        return 130
    finally:
        # what comes now is the interpreter's end
        signal.signal(signal.SIGINT, signal.SIG_IGN)


if __name__ == "__main__":
    sys.exit(main())
