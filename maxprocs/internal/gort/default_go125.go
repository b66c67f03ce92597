//go:build go1.25

package gort

import "runtime"

// HasDefault: the runtime can return to its default, which it then keeps up to date.
const HasDefault = true

// SetDefault makes the runtime decide again, whatever the environment says.
func SetDefault() { runtime.SetDefaultGOMAXPROCS() }
