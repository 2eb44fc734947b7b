"""RSA key pairs in the database: the private part is encrypted with a key that comes from the deployment secret."""

import hashlib
import hmac
import json

from joserfc import jwe
from joserfc.jwk import OctKey, RSAKey

ALGORITHM = "RS256"
_BITS = 2048
_SEAL = {"alg": "dir", "enc": "A256GCM"}


class KeySeal:
    """Creates and opens key pairs of one purpose. A pair of another purpose cannot be opened."""

    def __init__(self, deployment_secret: bytes, purpose: str) -> None:
        self._seal = OctKey.import_key(hmac.digest(deployment_secret, purpose.encode(), hashlib.sha256))

    def create(self, key_id: str) -> str:
        """A new key pair that signs with RS256, sealed."""
        key = RSAKey.generate_key(_BITS, {"kid": key_id, "use": "sig", "alg": ALGORITHM})
        return jwe.encrypt_compact(_SEAL, json.dumps(key.as_dict(private=True)).encode(), self._seal)

    def open(self, sealed: str) -> RSAKey:
        plain = jwe.decrypt_compact(sealed, self._seal, algorithms=list(_SEAL.values())).plaintext
        return RSAKey.import_key(json.loads(plain or b""))
