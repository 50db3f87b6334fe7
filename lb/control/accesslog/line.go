package accesslog

import (
	"context"
	"io"
	"log/slog"
	"sync/atomic"
	"time"
)

// line formats records, with one handler for all of them.
type line struct {
	names   *atomic.Pointer[Names]
	handler slog.Handler
	span    func(key string, d time.Duration) slog.Attr
}

func newLine(w io.Writer, format string, names *atomic.Pointer[Names]) line {
	o := &slog.HandlerOptions{ReplaceAttr: withoutLevel}
	if format == "json" {
		return line{names, slog.NewJSONHandler(w, o), milliseconds}
	}
	return line{names, slog.NewTextHandler(w, o), duration}
}

// withoutLevel drops the level: it is the same on all lines.
func withoutLevel(groups []string, a slog.Attr) slog.Attr {
	if a.Key == slog.LevelKey && len(groups) == 0 {
		return slog.Attr{}
	}
	return a
}

func duration(key string, d time.Duration) slog.Attr {
	return slog.Duration(key, d.Round(time.Microsecond))
}

func milliseconds(key string, d time.Duration) slog.Attr {
	return slog.Float64(key+"_ms", float64(d.Round(time.Microsecond).Microseconds())/1e3)
}

// write writes the line of a record.
func (f *line) write(r *record) error {
	names := f.names.Load()
	s := slog.NewRecord(time.Unix(0, r.ended).UTC().Truncate(time.Millisecond), slog.LevelInfo, "conn", 0)
	s.AddAttrs(
		slog.String("virtual", name(names.Virtuals, int(r.virtual))),
		slog.String("client", r.addr().String()),
		slog.String("pool", names.pool(r)),
		slog.String("member", name(names.Members, int(r.member))),
		f.span("wait", r.wait),
		f.span("connect", r.connect),
		f.span("total", r.total),
		slog.Uint64("up", r.up),
		slog.Uint64("down", r.down),
		slog.Uint64("position", uint64(r.position)),
		slog.String("left", lefts[r.left]),
		slog.String("code", r.code.String()),
		slog.String("closer", closers[r.closer]),
	)
	if up, down := r.packets[0], r.packets[1]; up|down != 0 {
		s.AddAttrs(slog.Uint64("packets_up", uint64(up)), slog.Uint64("packets_down", uint64(down)))
	}
	return f.handler.Handle(context.Background(), s)
}
