package proxyheader

import (
	"encoding/binary"
	"hash/crc32"

	pp "github.com/pires/go-proxyproto"
)

// What stands before a TLV's value, and how long some values are.
const (
	tlvHead    = 3 // a byte of type, two of length
	crcLen     = 4
	mostUnique = 128
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checkTLVs sees that the TLVs from at on fill the header b to its end, and
// that its checksum, if there is one, is right. Of two checksums neither
// could be: each would count the other as zero.
func checkTLVs(b []byte, at int) error {
	sum := 0 // where the checksum stands
	for at < len(b) {
		if len(b)-at < tlvHead {
			return ErrTLV
		}
		kind, size := pp.PP2Type(b[at]), int(binary.BigEndian.Uint16(b[at+1:]))
		at += tlvHead
		if size > len(b)-at {
			return ErrTLV
		}
		switch {
		case kind == pp.PP2_TYPE_CRC32C && (size != crcLen || sum != 0):
			return ErrTLV
		case kind == pp.PP2_TYPE_CRC32C:
			sum = at
		case kind == pp.PP2_TYPE_UNIQUE_ID && size > mostUnique:
			return ErrTLV
		}
		at += size
	}
	if sum != 0 && checksum(b, sum) != binary.BigEndian.Uint32(b[sum:]) {
		return ErrChecksum
	}
	return nil
}

// checksum is CRC32c over b, with the checksum at index at taken for zero.
func checksum(b []byte, at int) uint32 {
	var zero [crcLen]byte
	c := crc32.Checksum(b[:at], castagnoli)
	c = crc32.Update(c, castagnoli, zero[:])
	return crc32.Update(c, castagnoli, b[at+crcLen:])
}
