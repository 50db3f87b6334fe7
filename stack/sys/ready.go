package sys

// Ready is what a socket can be used for, as far as is known.
type Ready uint8

const (
	In     Ready = 1 << iota // there is something to read, or the end
	Out                      // there is room to write; or a dial came through
	Fin                      // the peer sent FIN: what can be read now is the last
	Err                      // an error is pending, a reset mostly
	Unsure                   // not to be relied on (the descriptor's previous owner's, urgent data): look
)
