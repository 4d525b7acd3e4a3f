"""Read a machine's flattened device tree (DTB), add persistent memory to it, limit the RAM of the kernel.

https://devicetree-specification.readthedocs.io has the format; of the node, the kernel's
Documentation/devicetree/bindings/pmem/pmem-region.txt; of the range, dt-schema's schemas/chosen.yaml.
"""

import struct

from base.errors import LabError

_MAGIC = 0xD00DFEED
# magic, totalsize, off_dt_struct, off_dt_strings, off_mem_rsvmap, version, last_comp_version,
# boot_cpuid_phys, size_dt_strings, size_dt_struct
_HEADER = struct.Struct(">10I")
_BEGIN_NODE, _END_NODE, _PROPERTY, _END = 1, 2, 3, 9
# end of the root node, and of the tree
_LAST = struct.pack(">2I", _END_NODE, _END)
# list of reserved memory: ends with an entry of zeros
_NO_RESERVED = bytes(16)


def with_persistent_memory(tree: bytes, begin: int, kernels: int, persistent: int) -> bytes:
    """Return the tree with `kernels` bytes of RAM from `begin` on, then `persistent` bytes of such memory.

    Addresses and sizes have 64 bits, as in QEMU's tree.
    """
    if len(tree) < _HEADER.size or _HEADER.unpack_from(tree)[0] != _MAGIC:
        raise LabError("QEMU's device tree has no header")
    of_tree = _HEADER.unpack_from(tree)
    _, _, nodes_at, names_at, reserved_at, version, last, cpu, names_size, nodes_size = of_tree
    nodes, names = tree[nodes_at : nodes_at + nodes_size], tree[names_at : names_at + names_size]
    chosen = _begin("chosen")
    if not nodes.endswith(_LAST) or nodes.count(chosen) != 1 or tree[reserved_at:][:16] != _NO_RESERVED:
        raise LabError("QEMU's device tree is not as expected: its end, its node /chosen or reserved memory")
    property_names = ("linux,usable-memory-range", "compatible", "reg")
    at_name = {}
    for name in property_names:
        at_name[name] = len(names)
        names += name.encode() + b"\0"
    usable = _property(at_name[property_names[0]], struct.pack(">2Q", begin, kernels))
    region = _begin(f"persistent-memory@{begin + kernels:x}")
    region += _property(at_name["compatible"], b"pmem-region\0")
    region += _property(at_name["reg"], struct.pack(">2Q", begin + kernels, persistent))
    region += struct.pack(">I", _END_NODE)
    nodes = nodes.replace(chosen, chosen + usable).removesuffix(_LAST) + region + _LAST
    at = _HEADER.size + len(_NO_RESERVED)
    sizes = (len(names), len(nodes))
    places = (at + sum(sizes), at, at + len(nodes), _HEADER.size)
    return _HEADER.pack(_MAGIC, *places, version, last, cpu, *sizes) + _NO_RESERVED + nodes + names


def _begin(name: str) -> bytes:
    return struct.pack(">I", _BEGIN_NODE) + _padded(name.encode() + b"\0")


def _property(name_at: int, value: bytes) -> bytes:
    return struct.pack(">3I", _PROPERTY, len(value), name_at) + _padded(value)


def _padded(content: bytes) -> bytes:
    return content.ljust(-(-len(content) // 4) * 4, b"\0")
