package policy

import (
	"strings"
	"testing"
)

// floors lists the floors of the house from top to bottom, as in
// ARCHITECTURE.md; a prefix that does not end in a slash is one package. A
// package may import what is on a lower floor, and its own folder. Packages of
// one floor that may know each other are named in beside.
var floors = []struct {
	name     string
	prefixes []string
}{
	{"commands", []string{"cmd/"}},
	{"control", []string{"lb/control/"}},
	{"sessions", []string{"stack/proxy"}},
	{"bytes", []string{"stack/"}},
	{"decisions", []string{"lb/"}},
}

// beside lists imports inside one floor that are meant to be.
var beside = map[string][]string{
	"lb/control/admin":   {"lb/control/config", "lb/control/metrics", "lb/control/web"},
	"lb/control/ctl":     {"lb/control/config"},
	"lb/control/metrics": {"lb/control/config"},
	"lb/control/stage":   {"lb/control/admin", "lb/control/config"},
	"lb/control/top":     {"lb/control/config", "lb/control/ctl"},
	"stack/kernel":       {"stack/sys", "stack/wheel"},
	"stack/monitor":      {"stack/proxyheader"},
	"stack/relay":        {"stack/sys"},
	"stack/wheel":        {"stack/slab"},
	"stack/tap":          {"stack/slab", "stack/sys", "stack/tap/", "stack/wheel"},
	"stack/tap/device":   {"stack/sys", "stack/tap/frame", "stack/tap/steer"},
	"stack/tap/ether":    {"stack/sys", "stack/tap/device", "stack/tap/frame"},
	"stack/tap/flow":     {"stack/tap/frame", "stack/tap/rows", "stack/tap/track"},
	"stack/tap/hop":      {"stack/tap/frame"},
	"stack/tap/park":     {"stack/tap/frame", "stack/tap/rows"},
	"stack/tap/pass":     {"stack/tap/device"},
	"stack/tap/rewrite":  {"stack/tap/device", "stack/tap/frame"},
	"stack/tap/route":    {"stack/tap/frame"},
	"stack/tap/shift":    {"stack/tap/frame", "stack/tap/device"},
	"stack/tap/snat":     {"stack/tap/frame"},
	"stack/tap/steer":    {"stack/sys", "stack/tap/frame"},
	"stack/tap/track":    {"stack/tap/frame"},
	"stack/tap/term":     {"stack/sys", "stack/tap/device", "stack/tap/frame", "stack/tap/hop", "stack/wheel"},
	"lb/queue":           {"lb/ring"},
	"lb/dispatch":        {"lb/codel", "lb/limit", "lb/method", "lb/persist", "lb/queue", "lb/ramp", "lb/rate", "lb/ring"},
}

// outside stand beside the floors: they may import each other and, of the
// product, only what is named here.
var outside = map[string][]string{
	"bench/": {"bench/"},
	"tools/": {"tools/", "bench/", "lb/", "stack/"},
}

func floorOf(pkg string) int {
	for i, f := range floors {
		for _, p := range f.prefixes {
			if pkg == p || strings.HasSuffix(p, "/") && strings.HasPrefix(pkg, p) {
				return i
			}
		}
	}
	return -1
}

func TestImportsGoDown(t *testing.T) {
	for pkg, imports := range productImports(t) {
		for _, imp := range imports {
			if !allowed(pkg, imp) {
				t.Errorf("%s imports %s, which is not below it", pkg, imp)
			}
		}
	}
}

func allowed(pkg, imp string) bool {
	for prefix, may := range outside {
		if strings.HasPrefix(pkg, prefix) {
			return hasPrefix(imp, may)
		}
	}
	for prefix := range outside {
		if strings.HasPrefix(imp, prefix) {
			return strings.HasPrefix(pkg, "cmd/")
		}
	}
	from, to := floorOf(pkg), floorOf(imp)
	if from < 0 || to < 0 {
		return false
	}
	return to > from || to == from && hasPrefix(imp, beside[pkg])
}

func hasPrefix(s string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// The core decides and does nothing else.
func TestCoreIsPure(t *testing.T) {
	banned := []string{"net", "os", "syscall", "golang.org/x/sys", "log", "io", "sync"}
	for pkg, imports := range allImports(t) {
		if !strings.HasPrefix(pkg, "lb/") || strings.HasPrefix(pkg, "lb/control/") {
			continue
		}
		for _, imp := range imports {
			for _, b := range banned {
				if (imp == b || strings.HasPrefix(imp, b+"/")) && imp != "sync/atomic" && imp != "net/netip" {
					t.Errorf("%s imports %s: the core has no I/O, no lock and no log", pkg, imp)
				}
			}
		}
	}
}

func TestTableCatchesABreach(t *testing.T) {
	for _, c := range []struct {
		pkg, imp string
		want     bool
	}{
		{"lb/dispatch", "stack/kernel", false},
		{"stack/relay", "stack/proxy", false},
		{"lb/limit", "lb/dispatch", false},
		{"stack/proxy", "lb/dispatch", true},
		{"stack/proxy", "lb/control/config", false},
		{"bench/client", "lb/dispatch", false},
		{"cmd/penstock", "lb/control/admin", true},
		{"stack/kernel", "bench/client", false},
		{"stack/proxy", "stack/proxyheader", true},
		{"stack/monitor", "stack/proxyheader", true},
		{"stack/monitor", "lb/monitor", true},
		{"stack/proxyheader", "stack/proxy", false},
		{"stack/monitor", "stack/proxy", false},
	} {
		if got := allowed(c.pkg, c.imp); got != c.want {
			t.Errorf("%s imports %s: allowed is %v, want %v", c.pkg, c.imp, got, c.want)
		}
	}
}
