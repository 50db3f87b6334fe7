// Package limit counts connections against a limit that is never exceeded,
// not even by one, without a cache line that all cores write.
//
// The right to a connection is a token. Of a Counter's tokens some are in
// use, some lie in its word, and some in the shards, one a loop; their sum is
// the limit, always. A loop takes from and gives to its own shard, and goes to
// the word when the shard is empty or full. Small limits have no shards.
//
// Two situations want every free token in the word. While somebody waits, the
// home of the pool hands tokens out and must see them all: the caller then
// gives with toWord, and the home calls Sweep. And while a lowered limit is
// not yet reached (the word is below zero, a debt), the counter is strict and
// sees to it by itself.
//
// The package decides nothing about waiting. Its one rule for callers: who
// put a token anywhere looks afterwards whether somebody waits.
package limit
