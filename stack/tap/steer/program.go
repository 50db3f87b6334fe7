package steer

import (
	"encoding/binary"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// Where things lie in a frame.
const (
	etherType = 12
	ip4       = 14
	ip4Flags  = ip4 + 6
	ip4Proto  = ip4 + 9
	ip4Src    = ip4 + 12
	ip4Dst    = ip4 + 16
	ip4Ports  = ip4 + 20
	ip4Need   = ip4Ports + 4
	ip6       = 14
	ip6Next   = ip6 + 6
	ip6Src    = ip6 + 8
	ip6Dst    = ip6 + 24
	ip6Ports  = ip6 + 40
	ip6Need   = ip6Ports + 4
)

// stack is where a copy of the frame's beginning lies: so that each word of an IP
// header is at a multiple of its size, as the verifier wants it.
const stack = -(ip6Need + 4)

// ends are where a family's endpoints lie: the words of an address that are not
// the same for all of the family, and the port.
type ends struct {
	first    int // word of an address in its 16-byte form
	src, dst int
	ports    int
}

var (
	ends4 = ends{3, ip4Src, ip4Dst, ip4Ports}
	ends6 = ends{0, ip6Src, ip6Dst, ip6Ports}
)

// Program loads the program that chooses as Queue does, for TUNSETSTEERINGEBPF.
// The kernel calls it with a frame, from its Ethernet header on, and takes what
// it returns modulo the number of queues. The caller closes it.
//
// A socket filter may not look into a packet directly. Copying the headers in
// one go costs one call, or two for IPv6; loading word by word (LD_ABS) is a call
// each time.
func (h *Hash) Program(rule Rule) (*ebpf.Program, error) {
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Name: "penstock_steer", Type: ebpf.SocketFilter, License: "Apache-2.0", Instructions: h.instructions(rule),
	})
	if err != nil {
		return nil, fmt.Errorf("load a program into the kernel: %w", err)
	}
	return p, nil
}

// Registers: R6 is the packet, R7 and R8 the endpoints' values, R1 to R5 and R0
// are for moments.
func (h *Hash) instructions(rule Rule) (code asm.Instructions) {
	add := func(more ...asm.Instruction) { code = append(code, more...) }

	add(asm.Mov.Reg(asm.R6, asm.R1))
	add(read(0, ip4Need)...)
	add(
		load(asm.R1, etherType, asm.Half),
		asm.JEq.Imm(asm.R1, wire16(0x0800), "ip4"),
		asm.JNE.Imm(asm.R1, wire16(0x86dd), "none"),
	)
	add(read(ip4Need, ip6Need)...)
	add(
		load(asm.R1, ip6Next, asm.Byte),
		asm.JNE.Imm(asm.R1, 6, "none"),
	)
	add(h.choose(rule, &ends6)...)

	add(
		load(asm.R1, ip4, asm.Byte).WithSymbol("ip4"),
		asm.JNE.Imm(asm.R1, 0x45, "none"), // it has options
		load(asm.R1, ip4Flags, asm.Half),
		asm.And.Imm(asm.R1, wire16(0x3fff)),
		asm.JNE.Imm(asm.R1, 0, "none"), // it is a fragment
		load(asm.R1, ip4Proto, asm.Byte),
		asm.JNE.Imm(asm.R1, 6, "none"),
	)
	add(h.choose(rule, &ends4)...)

	add(asm.Mov.Imm(asm.R0, 0).WithSymbol("none"), asm.Return())
	return code
}

// read copies a part of the frame to the stack. A frame that is too short is
// none of ours.
func read(from, to int) asm.Instructions {
	return asm.Instructions{
		asm.Mov.Reg(asm.R1, asm.R6),
		asm.Mov.Imm(asm.R2, int32(from)),
		asm.Mov.Reg(asm.R3, asm.RFP),
		asm.Add.Imm(asm.R3, int32(stack+from)),
		asm.Mov.Imm(asm.R4, int32(to-from)),
		asm.FnSkbLoadBytes.Call(),
		asm.JNE.Imm(asm.R0, 0, "none"),
	}
}

// load loads what was read at a place of the frame, in the machine's order.
func load(r asm.Register, at int, size asm.Size) asm.Instruction {
	return asm.LoadMem(r, asm.RFP, int16(stack+at), size)
}

// wire16 is what load makes of v.
func wire16(v uint16) int32 {
	var b [2]byte
	binary.BigEndian.PutUint16(b[:], v)
	return int32(binary.NativeEndian.Uint16(b[:]))
}

// choose is Queue, and the end of the program.
func (h *Hash) choose(rule Rule, e *ends) (code asm.Instructions) {
	if rule != Destination {
		code = append(code, h.endpoint(asm.R7, e, e.src, e.ports)...)
	}
	switch rule {
	case Destination:
		code = append(code, h.endpoint(asm.R7, e, e.dst, e.ports+2)...)
	case Both:
		code = append(code, h.endpoint(asm.R8, e, e.dst, e.ports+2)...)
		code = append(code, asm.Add.Reg32(asm.R7, asm.R8))
	}
	return append(code,
		asm.Mov.Reg(asm.R0, asm.R7),
		asm.Mul.Imm(asm.R0, int32(h.queues)),
		asm.RSh.Imm(asm.R0, 32),
		asm.Return(),
	)
}

// endpoint is Endpoint: it leaves the value in r.
func (h *Hash) endpoint(r asm.Register, e *ends, addr, port int) asm.Instructions {
	sum := h.salt
	if e.first == 3 { // IPv4: the mapped form's beginning
		sum += uint64(word(&mapped, 2)) * h.word[2]
	}
	code := asm.Instructions{number(r, sum)}
	times := func(k uint64) {
		code = append(code, number(asm.R2, k), asm.Mul.Reg(asm.R1, asm.R2), asm.Add.Reg(r, asm.R1))
	}
	for i := e.first; i < 4; i++ {
		code = append(code, load(asm.R1, addr+4*(i-e.first), asm.Word))
		times(h.word[i])
	}
	code = append(code, load(asm.R1, port, asm.Half), asm.HostTo(asm.BE, asm.R1, asm.Half))
	times(h.port)
	return append(code,
		asm.Mov.Reg(asm.R1, r),
		asm.RSh.Imm(asm.R1, 32),
		asm.Xor.Reg(r, asm.R1),
		number(asm.R2, h.last),
		asm.Mul.Reg(r, asm.R2),
		asm.RSh.Imm(r, 32),
	)
}

var mapped = [16]byte{10: 0xff, 11: 0xff}

func number(r asm.Register, v uint64) asm.Instruction { return asm.LoadImm(r, int64(v), asm.DWord) }
