package peer

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
)

// nginx is nginx's stream proxy:
//
//   - A worker for each loop of penstock, each with a listener of its own
//     ("reuseport"), which is what its makers advise for many connections.
//   - Members in shared memory ("zone"): without it max_conns would be of each
//     worker, and not of all.
//   - Room for all connections in every worker: two for each client.
//   - Timeouts far away; no log but what keeps it from starting.
//
// It has no queue: who comes while all members are at max_conns is refused, by
// a clean end. What waits with others is refused here.
type nginx struct{ path string }

func (nginx) Name() string { return "nginx" }

func (n nginx) Command(s Setup) ([]string, error) {
	text, err := n.config(s)
	if err != nil {
		return nil, err
	}
	file, err := place(s, "nginx.conf", text)
	return n.argv(s, file), err
}

func (n nginx) argv(s Setup, file string) []string {
	return []string{n.path, "-p", s.Dir, "-e", "stderr", "-c", file}
}

func (n nginx) Reload(s Setup, pid int) error {
	if _, err := n.Command(s); err != nil {
		return err
	}
	return tell(pid, syscall.SIGHUP)
}

func (n nginx) Check(s Setup) []string {
	return append(n.argv(s, s.Dir+"/nginx.conf"), "-t", "-q")
}

func (n nginx) Version() string { return version(n.path, "-v") }

const nginxConfig = `%[1]sdaemon off;
worker_processes %[2]d;
pid %[3]s/nginx.pid;
error_log stderr emerg;
%[4]sevents {
    worker_connections %[5]d;
%[6]s}
stream {
    proxy_connect_timeout 5s;
    proxy_timeout 1h;
%[7]s    upstream members {
        zone members 1m;
%[8]s    }
    server {
        listen %[9]s reuseport backlog=4096;
        proxy_pass members;
%[10]s    }
}
`

// own is what a worker needs besides clients and members: listeners, the pipe
// to its master.
const own = 64

func (n nginx) config(s Setup) (string, error) {
	more, err := sections("nginx", s.More, "main", "events", "stream", "upstream", "server", "member")
	if err != nil {
		return "", err
	}
	module, err := n.module()
	if err != nil {
		return "", err
	}
	lines := func(section, indent string) string {
		var b strings.Builder
		for _, l := range more[section] {
			b.WriteString(indent + strings.TrimSuffix(l, ";") + ";\n")
		}
		return b.String()
	}
	var members strings.Builder
	for _, m := range s.Members {
		words := append([]string{"        server " + m.Address.String()}, more["member"]...)
		if m.Limit > 0 {
			words = append(words, fmt.Sprintf("max_conns=%d", m.Limit))
		}
		members.WriteString(strings.Join(words, " ") + ";\n")
	}
	return fmt.Sprintf(nginxConfig, module, s.Loops, s.Dir, lines("main", ""), 2*s.Connections+own, lines("events", "    "),
		lines("stream", "    "), lines("upstream", "        ")+members.String(), s.Listen, lines("server", "        ")), nil
}

var modulesPath = regexp.MustCompile(`--modules-path=(\S+)`)

// module is the line that loads the stream module, unless it is built in.
func (n nginx) module() (string, error) {
	out, err := exec.Command(n.path, "-V").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s -V: %w", n.path, err)
	}
	if !strings.Contains(string(out), "--with-stream=dynamic") {
		return "", nil
	}
	path := "modules"
	if m := modulesPath.FindSubmatch(out); m != nil {
		path = string(m[1])
	}
	file := filepath.Join(path, "ngx_stream_module.so")
	if _, err := os.Stat(file); err != nil {
		return "", fmt.Errorf("nginx: %w: its stream module (Debian: libnginx-mod-stream): %s", ErrMissing, file)
	}
	return fmt.Sprintf("load_module %q;\n", file), nil
}
