"""A server may have as many connections as the system permits, and not only as many as a shell begins with."""

import resource

from app.entry.cli.listening_socket import allow_many_connections


def test_the_soft_limit_of_open_files_is_raised_to_the_hard_one():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 512), hard))
    try:
        allow_many_connections()
        most = 65536 if hard == resource.RLIM_INFINITY else min(hard, 65536)
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (most, hard)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
