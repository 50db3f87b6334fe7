package top

// key is one that means something here.
type key uint8

const (
	keyOther key = iota
	keyQuit
	keyPause
	keyUp
	keyDown
	keyFirst // the digits 1 to 9
	keyLast  = keyFirst + 8
)

// keyboard makes keys of bytes. A key may come in pieces.
type keyboard struct{ state keyState }

type keyState uint8

const (
	plainKey keyState = iota
	escaped           // after ESC
	inside            // after ESC [ or ESC O, until a letter
)

// next takes a byte, and returns what it ends; keyOther if that means
// nothing, or is not at its end.
func (b *keyboard) next(c byte) key {
	switch {
	case c == 0x1b:
		b.state = escaped
		return keyOther
	case b.state == escaped && (c == '[' || c == 'O'):
		b.state = inside
		return keyOther
	case b.state == inside:
		if c >= '@' && c <= '~' {
			b.state = plainKey
			return arrows[c]
		}
		return keyOther
	}
	b.state = plainKey
	if c >= '1' && c <= '9' {
		return keyFirst + key(c-'1')
	}
	return letters[c]
}

var (
	arrows  = map[byte]key{'A': keyUp, 'B': keyDown}
	letters = map[byte]key{'q': keyQuit, 'Q': keyQuit, 'p': keyPause, 'P': keyPause, 'k': keyUp, 'j': keyDown}
)
