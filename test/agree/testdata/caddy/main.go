// Caddy, whose own main package is the same but for metered.
package main

import (
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	_ "github.com/caddyserver/caddy/v2/modules/standard"

	"example.com/agree/metered"
)

func main() {
	metered.Allow()
	caddycmd.Main()
}
