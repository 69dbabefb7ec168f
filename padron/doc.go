// Package padron makes SUNAT's reduced registry of taxpayers, a public file of 18 million rows, an index in one file:
// a taxpayer by RUC in microseconds, and a search by name in the order of relevance.
package padron
