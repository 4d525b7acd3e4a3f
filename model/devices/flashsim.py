"""The driver flashsim, our simulated flash: size attribute, log, counters, past states, sources of its model.

The device itself: images/devices/flashsim/README.md.
"""

from model.devices import Device

DEVICE = Device(
    size=lambda mib: {"sectors": mib * 2048},
    modelled=("geometry", "timing"),
    logs=True,
    history=lambda name: f"/sys/block/{name}/flashsim",
    counts=True,
    model_sources=("model.c", "media.c", "units.c", "map.c", "map_cache.c"),
)
