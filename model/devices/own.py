"""Facts of a lab board's own device, whatever it is: nothing is set or modelled."""

from model.devices import Device

DEVICE = Device(size=lambda _: {}, made=False)
