"""CLOCK=kvm: only where it was requested and can be; whether it works, the board's boot tells."""

import os
import platform

from base.errors import BadInputError

DEVICE = "/dev/kvm"


def check() -> None:
    """BadInputError where no arm64 guest can run under KVM. Opens nothing, so it cannot hang."""
    if (machine := platform.machine()) != "aarch64":
        raise BadInputError(
            f"CLOCK=kvm: the board is arm64 and so must the host be, which is {machine}; "
            "use CLOCK=virtual or CLOCK=real"
        )
    if not os.access(DEVICE, os.R_OK | os.W_OK):
        raise BadInputError(
            f"CLOCK=kvm: {DEVICE} is not there, or not for this user; use CLOCK=virtual or CLOCK=real"
        )
