// Package result holds what one run of a scenario comes to: raw figures of
// every round, as written to a file and read again for reports, and what is
// made of them: medians with spread, ratios formed within a round, and whether
// goals are reached.
package result
