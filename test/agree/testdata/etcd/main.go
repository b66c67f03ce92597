// Etcd, whose own main package is the same but for metered.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"

	"example.com/agree/metered"
)

func main() {
	metered.Allow()
	etcdmain.Main(os.Args)
}
