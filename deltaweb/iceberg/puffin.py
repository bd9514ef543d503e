"""Deletion vectors as Puffin files: one vector a file, since clients read files whole.

What a vector's file of Delta has, its length, its bitmap and its checksum, is just what
a Puffin blob has.

Source: Puffin specification, "File structure" and "deletion-vector-v1 blob type".
"""

import json
import struct
import zlib
from dataclasses import dataclass
from typing import Final

from deltaweb.delta.deletion_vectors.descriptor import DeletionVector

MAGIC: Final = b"PFA1"
ROW_POSITION: Final = 2_147_483_645  # the id of the column that positions are of
FRAME_BYTES: Final = 8  # length and checksum around the bitmap
BLOB_START: Final = len(MAGIC)


@dataclass(frozen=True, slots=True)
class PuffinVector:
    """The file of a deletion vector; how long it is, is known before it is read."""

    vector: DeletionVector
    data_location: str

    @property
    def blob_bytes(self) -> int:
        return self.vector.size_bytes + FRAME_BYTES

    @property
    def size_bytes(self) -> int:
        return BLOB_START + self.blob_bytes + len(self._footer())

    def file(self, bitmap: bytes) -> bytes:
        """Return the whole file.

        Args:
            bitmap: The vector, in the portable format.
        """
        blob = struct.pack(">I", len(bitmap)) + bitmap
        blob += struct.pack(">I", zlib.crc32(bitmap))
        return MAGIC + blob + self._footer()

    def _footer(self) -> bytes:
        blob = {
            "type": "deletion-vector-v1",
            "fields": [ROW_POSITION],
            "snapshot-id": -1,
            "sequence-number": -1,
            "offset": BLOB_START,
            "length": self.blob_bytes,
            "properties": {
                "referenced-data-file": self.data_location,
                "cardinality": str(self.vector.cardinality),
            },
        }
        text = json.dumps({"blobs": [blob], "properties": {}}).encode()
        return MAGIC + text + struct.pack("<II", len(text), 0) + MAGIC
