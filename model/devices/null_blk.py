"""Facts of null_blk, the kernel's device in RAM: its size attribute; it keeps no log.

Documentation/block/null_blk.rst
"""

from model.devices import Device

DEVICE = Device(size=lambda mib: {"size": mib}, modelled=("geometry",))
