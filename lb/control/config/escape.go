package config

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// splitPairs splits at commas, except those behind a backslash. What is
// escaped stays so: the keys that allow it take it apart.
func splitPairs(s string) (parts []string) {
	start := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case ',':
			parts = append(parts, s[start:i])
			start = i + 1
		}
	}
	return append(parts, s[start:])
}

// escapes is what a backslash makes of the letter behind it.
var escapes = map[byte]byte{',': ',', '\\': '\\', '#': '#', 'r': '\r', 'n': '\n'}

var escaper = strings.NewReplacer(`,`, `\,`, `\`, `\\`, "\r", `\r`, "\n", `\n`, ` #`, ` \#`)

// escape is the inverse of unescape. It also hides what a flag file would
// take for a comment.
func escape(s string) string { return escaper.Replace(s) }

// unescape gives the text that was meant.
func unescape(s string) (string, error) {
	if strings.ContainsFunc(s, unicode.IsControl) || !utf8.ValidString(s) {
		return "", errText
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\\' {
			i++
			if i == len(s) || escapes[s[i]] == 0 {
				return "", errText
			}
			c = escapes[s[i]]
		}
		b.WriteByte(c)
	}
	if b.Len() > maxMonitorText {
		return "", errText
	}
	return b.String(), nil
}
