# What a virtual board has (images/qemu.py) and the machine `virt` is made of.
CONFIG_ARM_VIRT=y
CONFIG_ARM_GICV3_TCG=y
CONFIG_NVDIMM=y
CONFIG_VIRTIO_PCI=y
CONFIG_VIRTIO_BLK=y
CONFIG_VIRTIO_NET=y
CONFIG_VIRTIO_SERIAL=y
# not for the board: without them QEMU's own files for ARM do not link
CONFIG_ARM_V7M=y
CONFIG_ARM_COMPATIBLE_SEMIHOSTING=y
