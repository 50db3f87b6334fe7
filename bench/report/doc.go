// Package report shows what a run wrote, in three forms made of the same table
// and the same sentences: Text for a terminal, HTML as one file that needs
// nothing else, and Markdown for a section of BENCHMARKS.md. Package plots
// below it draws; package fill puts tables into a document's marked places.
//
// Nothing here measures or judges: medians, ratios and goals are those of
// package result.
package report
