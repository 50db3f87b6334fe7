package config

import (
	"math"
	"slices"
	"strings"
	"time"
)

// settingKeys is what can be set once, for the whole program.
var settingKeys = []key[Config]{
	textKey("admin", "ADDR", "", "where the admin API listens: unix:PATH, IP:PORT or off (default "+
		"unix:/run/penstock/admin.sock for root, else $XDG_RUNTIME_DIR/penstock/admin.sock, else off)",
		parseAdmin, func(c *Config) *string { return &c.Admin }),
	tokenKey,
	countKey("loops", "0", "event loops", counts{max: 1024, zero: "one a core"},
		func(c *Config) *int { return &c.Loops }),
	countKey("max-connections", "0", "clients at once", counts{max: math.MaxInt32, zero: "what RLIMIT_NOFILE allows"},
		func(c *Config) *int { return &c.MaxConnections }),
	levelKey,
	textKey("log-format", "text|json", "text", "how log lines look", parseFormat,
		func(c *Config) *string { return &c.LogFormat }),
	textKey("access-log", "FILE|stderr|off", "off", "one line for each connection", parsePath,
		func(c *Config) *string { return &c.AccessLog }),
	alive(timeKey("drain-time", "30s", "after SIGTERM, time for what is connected to end", times{zero: "cut at once"},
		func(c *Config) *time.Duration { return &c.DrainTime })),
	demoKey(),
}

// tokenKey is "" in the Config and "off" on the command line, which so can
// take back what a flag file says.
var tokenKey = key[Config]{
	name: "admin-token-file", form: "FILE|off", def: "off",
	help: "holds the token that clients of -admin have to send; needed for an address that is not of this host only",
	set: func(c *Config, s string) error {
		if s == "off" {
			c.AdminTokenFile = ""
			return nil
		}
		return assign(&c.AdminTokenFile, s, parsePath)
	},
	get: func(c *Config) string {
		if c.AdminTokenFile == "" {
			return "off"
		}
		return c.AdminTokenFile
	},
}

var levelWords = []string{"debug", "info", "warn", "error"}

var levelKey = key[Config]{
	name: "log-level", form: bars(levelWords), def: "info", help: "the least that is logged",
	set: func(c *Config, s string) error {
		// UnmarshalText alone would also take "INFO" and "info+2".
		if !slices.Contains(levelWords, s) {
			return notAllowed(bars(levelWords))
		}
		return c.LogLevel.UnmarshalText([]byte(s))
	},
	get: func(c *Config) string { return strings.ToLower(c.LogLevel.String()) },
}

func parseFormat(s string) (string, error) {
	if s != "text" && s != "json" {
		return "", notAllowed("text|json")
	}
	return s, nil
}

func demoKey() key[Config] {
	k := boolKey("demo", "false", "true", "false",
		"built-in servers "+demoMembers[0]+" and "+demoMembers[1]+", if no -member is given, and -listen "+demoListen+
			", if no -listen or -virtual is: for a first look",
		func(c *Config) *bool { return &c.Demo })
	k.bare = true
	return k
}
