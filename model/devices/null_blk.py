"""null_blk: Documentation/block/null_blk.rst."""

from model.devices import Device

DEVICE = Device(size=lambda mib: {"size": mib}, modelled=("geometry",))
