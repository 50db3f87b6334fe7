// Package policy holds the rules of the house as tests: who may import whom,
// that each package introduces itself, that files stay short, and where raw
// system calls may stand. The tables say what is true; they are not edited to
// make a build pass.
package policy
