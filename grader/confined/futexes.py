"""Turn the shared futexes that the C++ library requests into private ones.

XLA waits for each compilation on a `std::future`, for which libstdc++ uses a futex that is not marked private. The
kernel identifies such a futex by the page of the file that contains it, wherever that is mapped, so two submissions
could wake each other. The filter of system calls therefore permits none. If it refused them, the waiting thread would
call again and again for as long as a compilation takes. So it raises SIGSYS, and this handler makes the same call with
the flag for a private futex: sixteen instructions of machine code, because Python cannot run in a signal handler.
"""

import ctypes
import mmap
import platform
import signal

_PRIVATE = 128
# Offsets of registers in a signal's frame: ucontext_t of <sys/ucontext.h>, from byte 40.
_R8, _R9, _R10, _RDI, _RSI, _RDX, _RAX = (40 + 8 * place for place in (0, 1, 2, 8, 9, 12, 13))
_SA_SIGINFO, _SA_ONSTACK, _SA_RESTART, _SA_NODEFER = 0x4, 0x08000000, 0x10000000, 0x40000000
_CODE = bytes(
    [
        *(0x53,),  # push rbx
        *(0x48, 0x89, 0xD3),  # mov rbx, rdx: the frame
        *(0x48, 0x8B, 0xBB, *_RDI.to_bytes(4, "little")),  # mov rdi, [rbx + RDI]
        *(0x48, 0x8B, 0xB3, *_RSI.to_bytes(4, "little")),  # mov rsi, [rbx + RSI]
        *(0x48, 0x81, 0xCE, *_PRIVATE.to_bytes(4, "little")),  # or rsi, 128
        *(0x48, 0x8B, 0x93, *_RDX.to_bytes(4, "little")),  # mov rdx, [rbx + RDX]
        *(0x4C, 0x8B, 0x93, *_R10.to_bytes(4, "little")),  # mov r10, [rbx + R10]
        *(0x4C, 0x8B, 0x83, *_R8.to_bytes(4, "little")),  # mov r8, [rbx + R8]
        *(0x4C, 0x8B, 0x8B, *_R9.to_bytes(4, "little")),  # mov r9, [rbx + R9]
        *(0xB8, *(202).to_bytes(4, "little")),  # mov eax, futex
        *(0x0F, 0x05),  # syscall
        *(0x48, 0x89, 0x83, *_RAX.to_bytes(4, "little")),  # mov [rbx + RAX], rax: what the call returns
        *(0x5B,),  # pop rbx
        *(0xC3,),  # ret
    ]
)


class _Action(ctypes.Structure):
    """struct sigaction of the C library."""

    _fields_ = (
        ("handler", ctypes.c_void_p),
        ("mask", ctypes.c_ulong * 16),
        ("flags", ctypes.c_int),
        ("restorer", ctypes.c_void_p),
    )


# The handler must stay mapped.
_kept: list[mmap.mmap] = []


def can_be_made_private() -> bool:
    """Whether there is machine code for this architecture."""
    return platform.machine() == "x86_64"


def make_private() -> None:
    """Handle SIGSYS from now on. Call this before the filter is installed and before there is a second thread.

    Raises:
      OSError: the handler could not be installed.
    """
    if not can_be_made_private():
        return
    libc = ctypes.CDLL(None, use_errno=True)
    page = mmap.mmap(-1, mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE)
    page.write(_CODE)
    where = ctypes.addressof(ctypes.c_char.from_buffer(page))
    if libc.mprotect(ctypes.c_void_p(where), ctypes.c_size_t(mmap.PAGESIZE), mmap.PROT_READ | mmap.PROT_EXEC):
        raise OSError(ctypes.get_errno(), "mprotect")
    action = _Action(handler=where, flags=_SA_SIGINFO | _SA_ONSTACK | _SA_RESTART | _SA_NODEFER)
    if libc.sigaction(int(signal.SIGSYS), ctypes.byref(action), None):
        raise OSError(ctypes.get_errno(), "sigaction")
    _kept.append(page)
