//go:build unix && !portable

package start

const inPlace = true
