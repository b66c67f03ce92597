// Package phrase is the small change of sentences: counts with their nouns,
// lists, and text from outside made fit to print.
// It knows nothing of what the sentences are about.
package phrase
