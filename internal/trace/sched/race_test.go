//go:build race

package sched

const underRace = true
