package main

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkReplaceMembers is a reload that replaces all members by others on
// other nodes.
func BenchmarkReplaceMembers(b *testing.B) {
	for _, n := range []int{1000, 4000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			file := func(net int) string {
				var s strings.Builder
				s.WriteString("loops 4\nvirtual web,listen=127.0.0.1:0,pool=app\npool app,monitor=none\n")
				for i := range n {
					fmt.Fprintf(&s, "member 10.%d.%d.%d:9,pool=app\n", net, i>>8, i&255)
				}
				return s.String()
			}
			r := rigged(b, file(0), nil)
			for i := 0; b.Loop(); i++ {
				r.reload(file(1 + i%2))
			}
		})
	}
}
