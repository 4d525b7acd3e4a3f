"""Three children replace a file each, four times, as editors do: write, sync, rename, sync the folder."""

import os
from pathlib import Path


def replace(name: str, content: bytes) -> None:
    part = os.open(f".{name}.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.write(part, content)
    os.fsync(part)
    os.close(part)
    Path(f".{name}.new").rename(name)
    folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    os.fsync(folder)
    os.close(folder)


children = []
for child in range(3):
    pid = os.fork()
    if pid == 0:
        for turn in range(4):
            replace(f"state{child}", bytes([turn]) * 5000)
        os._exit(0)
    children.append(pid)
assert all(os.waitpid(pid, 0)[1] == 0 for pid in children)
print(sum(Path(f"state{child}").stat().st_size for child in range(3)), "bytes")
