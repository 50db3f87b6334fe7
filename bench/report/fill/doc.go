// Package fill puts tables into the marked places of a document, BENCHMARKS.md,
// and draws the pictures that it shows, all from the raw files of one folder:
//
//	<!-- penbench: scenario short -->
//	what stands here is replaced
//	<!-- penbench: end -->
//
// The first line says what belongs there, by Kinds. What stands between marks
// is nobody's to edit: the same files give the same text again.
package fill
