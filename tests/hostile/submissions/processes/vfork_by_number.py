"""expect: accepted; wall: seccomp; says: "stopped". Uses the fork call that filters tend to forget."""

import ctypes

# The child borrows this very stack, so it must do nothing but leave: hence machine code.
import mmap

code = bytes.fromhex(
    "b83a000000"  # mov eax, 58 (vfork)
    "5a"  # pop rdx: the return address would be overwritten by the child
    "0f05"  # syscall
    "52"  # push rdx
    "4885c0"  # test rax, rax
    "7401"  # jz child
    "c3"  # ret
    "31ff"  # child: xor edi, edi
    "b83c000000"  # mov eax, 60 (exit)
    "0f05"  # syscall
)
page = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(code)
vfork = ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
print("stopped" if vfork() < 0 else "CROSSED: vforked")


def add_one(x):
    return x + 1
