# Devices of a virtual board (images/qemu.py), and requirements of the machine `virt`.
CONFIG_ARM_VIRT=y
CONFIG_ARM_GICV3_TCG=y
CONFIG_NVDIMM=y
CONFIG_VIRTIO_PCI=y
CONFIG_VIRTIO_BLK=y
CONFIG_VIRTIO_NET=y
CONFIG_VIRTIO_SERIAL=y
# not used by the board: QEMU's files for ARM do not link without them
CONFIG_ARM_V7M=y
CONFIG_ARM_COMPATIBLE_SEMIHOSTING=y
