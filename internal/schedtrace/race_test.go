//go:build race

package schedtrace

const underRace = true
