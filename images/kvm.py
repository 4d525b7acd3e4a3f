"""Check CLOCK=kvm requests: host architecture and access to KVM; the boot shows whether it works."""

import os
import platform

from base.errors import BadInputError

DEVICE = "/dev/kvm"


def check() -> None:
    """Raise BadInputError if no arm64 guest can run under KVM. Opens nothing, so it cannot hang."""
    if (machine := platform.machine()) != "aarch64":
        raise BadInputError(
            f"CLOCK=kvm: the board needs an arm64 host, and this one is {machine}; "
            "use CLOCK=virtual or CLOCK=real"
        )
    if not os.access(DEVICE, os.R_OK | os.W_OK):
        raise BadInputError(
            f"CLOCK=kvm: {DEVICE} is missing, or this user may not open it; use CLOCK=virtual or CLOCK=real"
        )
