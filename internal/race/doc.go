// Package race decides which value of GOMAXPROCS to measure next, and what the trials
// so far prove. It is pure: the same rules and trials give the same block and the same
// assessment, so that a run that was interrupted goes on as if it had not been.
package race
