package config

import (
	"strings"
	"time"
)

// The shortest times keep checks from filling the network; the longest
// timeout is more than what follows from the longest interval.
var (
	intervalTimes = times{min: 10 * time.Millisecond, max: 24 * time.Hour, bare: time.Second}
	timeoutTimes  = times{min: 10 * time.Millisecond, max: 7 * 24 * time.Hour, bare: time.Second}
)

var monitorKey = key[Pool]{
	name: "monitor", form: "tcp|http|none",
	help: "how members are checked: by a connect, by a request, not (default tcp with more than one member, else none)",
	set: func(p *Pool, s string) error {
		switch s {
		case "tcp":
			p.asked.monitor = MonitorTCP
		case "http":
			p.asked.monitor = MonitorHTTP
		case "none":
			p.asked.monitor = MonitorNone
		default:
			return notAllowed("tcp|http|none")
		}
		return nil
	},
	get: func(p *Pool) string { return p.Monitor.String() },
	implied: func(p *Pool) string {
		switch {
		case p.asked.monitor != MonitorDefault:
			return ""
		case len(p.Members) > 1:
			return "more than one member"
		}
		return "not more than one member"
	},
}

var monitorTimeoutKey = key[Pool]{
	name: "monitor-timeout", form: "TIME",
	help: "a member is down after this time without a good check; a bare number is seconds (default 3 x monitor-interval + 1s)",
	set:  func(p *Pool, s string) error { return assign(&p.asked.monitorTimeout, s, timeoutTimes.parse) },
	get:  func(p *Pool) string { return formatTime(p.MonitorTimeout) },
	implied: func(p *Pool) string {
		if p.asked.monitorTimeout != 0 {
			return ""
		}
		return "3 x monitor-interval + 1s"
	},
}

// settleMonitor decides what nobody gave.
func (p *Pool) settleMonitor() {
	p.Monitor = p.asked.monitor
	if p.Monitor == MonitorDefault {
		p.Monitor = MonitorNone
		if len(p.Members) > 1 {
			p.Monitor = MonitorTCP
		}
	}
	p.MonitorTimeout = p.asked.monitorTimeout
	if p.MonitorTimeout == 0 {
		p.MonitorTimeout = 3*p.MonitorInterval + time.Second
	}
}

// maxMonitorText is more than a request line and a few headers need.
const maxMonitorText = 4096

// defaultSend is what monitor=http asks if nobody says, and anyAnswer the
// word for no text in particular.
const (
	defaultSend = "/"
	anyAnswer   = "none"
)

var monitorSendKey = key[Pool]{
	name: "monitor-send", form: "TEXT", def: defaultSend,
	help: `what monitor=http asks: a path to GET, or all of the request, with \r\n for the ends of lines and \, for a comma`,
	set:  func(p *Pool, s string) error { return assign(&p.MonitorSend, s, parseSend) },
	get:  func(p *Pool) string { return escape(p.MonitorSend) },
}

var monitorRecvKey = key[Pool]{
	name: "monitor-recv", form: "TEXT|" + anyAnswer, def: anyAnswer,
	help: `what the answer has to contain, instead of a status 200 to 399; \, for a comma`,
	set:  func(p *Pool, s string) error { return assign(&p.MonitorRecv, s, parseRecv) },
	get: func(p *Pool) string {
		if p.MonitorRecv == "" {
			return anyAnswer
		}
		return escape(p.MonitorRecv)
	},
}

var (
	errPath = notAllowed("a path of ASCII without spaces, such as /healthz, or a request that does not begin with /")
	errText = notAllowed(`text of at most 4096 bytes of UTF-8, with \, for a comma, \r and \n for the ends of lines, \# for # and \\ for \`)
)

// parseSend takes a path, which goes into a request line of its own: nothing
// in it may end that. A request of the user's is sent as it is.
func parseSend(s string) (string, error) {
	s, err := unescape(s)
	if err != nil || !strings.HasPrefix(s, "/") {
		return s, err
	}
	if strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return "", errPath
	}
	return s, nil
}

func parseRecv(s string) (string, error) {
	if s == anyAnswer {
		return "", nil
	}
	return unescape(s)
}
