"""Backups in a bucket of an object store that speaks the S3 protocol."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from app.core.start_errors import BackupUnusable

PREFIX = "s3://"
_ADDRESS = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])/([A-Za-z0-9!_.*'()/-]{0,500})")
_REMEDY = (
    "Check MESHGRADE_S3_ENDPOINT, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION, and what this key may do in "
    "the bucket."
)
_TRIES = 3


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object of a bucket, or, if its key is empty or ends with `/`, a folder of them."""

    bucket: str
    key: str

    @classmethod
    def at(cls, address: str) -> "StoredObject":
        """Raises `BackupUnusable` if it is not `s3://BUCKET/KEY`."""
        found = _ADDRESS.fullmatch(address)
        if found is None:
            raise BackupUnusable(
                f"{address} is not the address of an object.",
                "Write s3://BUCKET/NAME.tar.gz, or s3://BUCKET/FOLDER/ for a file named after the time. The name of a "
                "bucket has 3 to 63 small letters, digits, dots and dashes.",
            )
        return cls(found[1], found[2])

    @property
    def is_folder(self) -> bool:
        return not self.key or self.key.endswith("/")

    def within(self, name: str) -> "StoredObject":
        return StoredObject(self.bucket, self.key + name)

    def __str__(self) -> str:
        return f"{PREFIX}{self.bucket}/{self.key}"


class ObjectStore:
    """The store at `endpoint`. The key comes from the environment variables of AWS, or from the role of the machine."""

    def __init__(self, endpoint: str) -> None:
        import urllib3
        from minio import Minio
        from minio.credentials.providers import AWSConfigProvider, ChainedProvider, EnvAWSProvider, IamAwsProvider

        parts = urlsplit(endpoint)
        self._client: Any = Minio(
            parts.netloc,
            secure=parts.scheme == "https",
            region=os.environ.get("AWS_REGION") or None,
            credentials=ChainedProvider([EnvAWSProvider(), AWSConfigProvider(), IamAwsProvider()]),
            http_client=urllib3.PoolManager(timeout=urllib3.Timeout(connect=10, read=300), retries=_TRIES),
        )

    def write(self, file: Path, to: StoredObject, progress: Callable[[str], None]) -> None:
        """Upload a file under a key that is not there yet. Only a complete object appears.

        Raises:
          BackupUnusable: there is one, or the store refuses or does not respond.
        """
        with _explained(to):
            if to.key in self.names(to):
                raise BackupUnusable(f"{to} exists already.", "Choose another name; `backup` overwrites nothing.")
            progress(f"uploading {file.stat().st_size / 1e6:,.0f} MB")
            self._client.fput_object(to.bucket, to.key, str(file))

    def read(self, source: StoredObject, file: Path) -> None:
        """Download an object. Raises `BackupUnusable`."""
        with _explained(source):
            self._client.fget_object(source.bucket, source.key, str(file))

    def names(self, folder: StoredObject) -> list[str]:
        """The keys that begin with that of `folder`, in alphabetical order. Raises `BackupUnusable`."""
        with _explained(folder):
            return sorted(each.object_name for each in self._client.list_objects(folder.bucket, prefix=folder.key))

    def delete(self, gone: StoredObject) -> None:
        """Raises `BackupUnusable`."""
        with _explained(gone):
            self._client.remove_object(gone.bucket, gone.key)


@contextmanager
def _explained(place: StoredObject) -> Iterator[None]:
    from minio.error import MinioException, S3Error
    from urllib3.exceptions import HTTPError

    try:
        yield
    except S3Error as error:
        raise BackupUnusable(f"{place}: the object store refused with {error.code}: {error.message}", _REMEDY) from None
    # The client raises ValueError for a key that it does not find anywhere.
    except (MinioException, HTTPError, OSError, ValueError) as error:
        raise BackupUnusable(f"{place}: the object store cannot be used: {error}", _REMEDY) from None
