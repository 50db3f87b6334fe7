package report

import (
	"slices"
	"strings"

	"penstock/bench/result"
)

// wellWords is what an empty verdict means: nothing beyond what the scenario
// allows, of that which it has judged. It is empty if that is nothing, as of a
// program without clients.
func wellWords(d *result.Document) string {
	clients := directives(d, "client")
	if len(clients) == 0 {
		return ""
	}
	servers := directives(d, "server")
	words := []string{"0 stranded", "0 lost"}
	if sets(servers, "-limit") {
		words = append([]string{"0 above a limit"}, words...)
	}
	if !slices.ContainsFunc(directives(d, "ghosts"), func(words []string) bool { return slices.Contains(words, "any") }) {
		words = append(words, "0 ghosts too many")
	}
	if sets(servers, "-fifo") {
		words = append(words, "0 overtaken")
	}
	if sets(clients, "-late") {
		words = append(words, "0 late")
	}
	return strings.Join(words, ", ")
}

// directives are the words of the scenario's lines that begin with this one.
func directives(d *result.Document, name string) (lines [][]string) {
	for _, line := range d.Lines {
		if words := strings.Fields(line); len(words) > 0 && words[0] == name {
			lines = append(lines, words)
		}
	}
	return lines
}

// sets says that a line has the flag, with more than nothing.
func sets(lines [][]string, flag string) bool {
	return slices.ContainsFunc(lines, func(words []string) bool {
		i := slices.Index(words, flag)
		return i >= 0 && i+1 < len(words) && words[i+1] != "0" && words[i+1] != "0s"
	})
}
