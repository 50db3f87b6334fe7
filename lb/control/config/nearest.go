package config

import "strings"

// nearest is the known word that s was probably meant to be: the one with
// the fewest letters to change if that is under half of them, else one that
// s is a part of ("limit" for "connection-limit"); "" when there is none.
func nearest(s string, known []string) string {
	if s == "" || len(s) > maxName {
		return ""
	}
	best, least := "", len(s)/2+1
	for _, k := range known {
		if d := distance(s, k); d < least {
			best, least = k, d
		}
	}
	if best != "" {
		return best
	}
	for _, k := range known {
		if len(s) >= 3 && strings.Contains(k, s) {
			return k
		}
	}
	return ""
}

// distance is the Levenshtein distance of two short strings.
func distance(a, b string) int {
	row := make([]int, len(b)+1) // distances of a[:i] to each b[:j]
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := corner
			if a[i] != b[j] {
				change++
			}
			corner = row[j+1]
			row[j+1] = min(change, row[j]+1, corner+1)
		}
	}
	return row[len(b)]
}
