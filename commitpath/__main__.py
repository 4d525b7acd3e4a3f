"""Command line behind the Makefile: python -m commitpath TARGET."""

import os
import signal
import sys

# Seconds after which an interrupt that Python dropped is raised again.
AGAIN_SECONDS = 0.05


def _again(unraisable: "sys.UnraisableHookArgs") -> None:
    """Raise an interrupt again that came in a destructor or a weak reference's callback: Python drops it."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS)
    else:
        sys.__unraisablehook__(unraisable)


def main() -> int:
    """Run the command that is named; Ctrl-C and a terminate have one answer, from the first moment on.

    The Makefile blocks SIGINT. All three signals wait until everything is loaded, well below a
    second: an interrupt inside Python's import machinery is printed and dropped.
    """
    told = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, told)
        # a terminate is answered as Ctrl-C is, what was started is stopped: also in a shell's
        # background job, where SIGINT is ignored
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        # so is a terminal that is closed: a build has a session of its own and does not hear of that
        if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # as nohup leaves it
            signal.signal(signal.SIGHUP, signal.default_int_handler)
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        sys.unraisablehook = _again
        from base.paths import ROOT
        from commitpath import commands

        os.chdir(ROOT)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, told)
        return commands.run(sys.argv[1:])
    except KeyboardInterrupt:
        print("commitpath: interrupted; nothing is left running", file=sys.stderr)
        return 130
    finally:
        # what comes now is the interpreter's end
        for number in told | {signal.SIGALRM}:
            signal.signal(number, signal.SIG_IGN)


if __name__ == "__main__":
    sys.exit(main())
