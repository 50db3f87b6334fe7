// Package scenario reads files that say what servers, proxies and clients do,
// what is measured, and what is allowed.
package scenario
