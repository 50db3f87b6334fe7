// Package examples makes documents as runs write them, for the tests of
// reports: plausible, the same each time, and with what is hard to show in
// them. Nothing was measured.
package examples
