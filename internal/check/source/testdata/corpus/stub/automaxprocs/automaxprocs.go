// Package automaxprocs stands for the real one.
package automaxprocs
