// Package attend is how a server of penbench is asked while it serves, by the
// words of who started it:
//
//	a := attend.Asked{Name: "penbench server", Words: os.Stdin, Answers: os.Stdout, Mistakes: os.Stderr}
//	err := a.Serve(ctx, server)
//
// It prints, a line of JSON each, where the server listens, the answers to the
// words that come, and when ctx is done its tally:
//
//	count   count anew: {"counting":true}
//	pause   count no more of what clients do at their end: {"counting":false}
//	ask     {"open":3,"accepted":17}
package attend
