package reflect

import (
	"errors"
	"flag"
	"fmt"
	"net/netip"

	"penstock/bench/wire"
)

// Config says what a reflector does. Bind makes flags of it, with the defaults of
// the program; Check says what is wrong with one.
type Config struct {
	Device string         // on which clients, or a proxy, are neighbours
	Listen netip.AddrPort // IPv4, and no address of this machine's kernel

	// Limit is how many connections there may be at a time; more are counted as
	// overshoots. 0: any number.
	Limit int

	// Sizes in bytes, the clients': of a request, which is one segment, and of what
	// answers it, which is one too. A response of 0 only acknowledges.
	Request, Response int
}

// Bind binds the flags to the fields and gives these their defaults.
func (c *Config) Bind(fs *flag.FlagSet) {
	fs.StringVar(&c.Device, "device", "", "network device on which those who ask are neighbours")
	fs.TextVar(&c.Listen, "listen", c.Listen, "`ADDRESS` and port to answer for; it must be nobody's")
	fs.IntVar(&c.Limit, "limit", 0, "connections that there may be at a time; more are counted as overshoots; 0: any number")
	fs.IntVar(&c.Request, "request", 64, "`BYTES` of a request")
	fs.IntVar(&c.Response, "response", 256, "`BYTES` of a response; 0: only an acknowledgement")
}

// Bounds of a Config.
const (
	MostLimit = 16_000_000
	MostBytes = 1400 // one frame
)

// Check returns every mistake, joined. That there is no device or address is none:
// in a scenario they are known later.
func (c *Config) Check() error {
	var errs []error
	between := func(flag string, value, least, most int) {
		if value < least || value > most {
			errs = append(errs, fmt.Errorf("-%s %d: must be from %d to %d", flag, value, least, most))
		}
	}
	between("limit", c.Limit, 0, MostLimit)
	between("request", c.Request, 1, MostBytes)
	between("response", c.Response, 0, MostBytes)
	if c.gain() < 2 {
		errs = append(errs, fmt.Errorf("-response %d: must differ by 2 from that of a request, %d: connections are told by the difference", c.Response, c.Request))
	}
	if c.Listen.IsValid() && (c.Listen.Port() == 0 || !wire.Harmless(netip.PrefixFrom(c.Listen.Addr(), 32))) {
		errs = append(errs, fmt.Errorf("-listen %v: must be an address in 198.18.0.0/15, or a private one, and a port", c.Listen))
	}
	return errors.Join(errs...)
}

// gain is by how much a request and its response differ.
func (c *Config) gain() int32 { return int32(max(c.Response-c.Request, c.Request-c.Response)) }

// complaint is Check, and that there is somewhere to answer.
func (c *Config) complaint() error {
	err := c.Check()
	if c.Device == "" || !c.Listen.IsValid() {
		err = errors.Join(errors.New("-device and -listen are needed: where, and the address and port to answer for"), err)
	}
	return err
}
