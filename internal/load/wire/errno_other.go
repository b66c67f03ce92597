//go:build !windows

package wire

func isRefused(error) bool { return false }

func isReset(error) bool { return false }
