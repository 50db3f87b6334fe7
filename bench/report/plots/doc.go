// Package plots draws what a run wrote as SVG: distributions of times with
// their tails, queue depth over time, ratios round by round, and figures
// against what a scenario varies. Only that is drawn for which there is data.
//
// The same document gives the same bytes, so that plots can be committed. Each
// has a white ground of its own and is read in dark pages too. A proxy has one
// colour, one dash pattern and one mark everywhere.
package plots
