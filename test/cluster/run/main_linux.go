// Command run brings a cluster up, prints where its kubeconfig is, and ends it when
// it is interrupted itself:
//
//	go run ./test/cluster/run [-build] [-nodes 2] [-image NAME=PROGRAM …]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/procfit/procfit/test/cluster"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	nodes := flags.Int("nodes", 2, "how many nodes")
	build := flags.Bool("build", false, "only build what a cluster is made of, where it is not there yet")
	images := map[string]string{}
	flags.Func("image", "`NAME=PROGRAM`: an image of a static program, imported on every node", func(s string) error {
		name, program, ok := strings.Cut(s, "=")
		if !ok {
			return fmt.Errorf("%q: want NAME=PROGRAM", s)
		}
		images[name] = program
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return err
	}
	if missing := cluster.Missing(); missing != "" {
		return fmt.Errorf("a cluster %s", missing)
	}
	if *build {
		return cluster.Build(ctx, os.Stderr)
	}
	c, err := cluster.Start(ctx, cluster.Options{Nodes: *nodes, Log: os.Stderr})
	if err != nil {
		return err
	}
	for name, program := range images {
		if err := c.Load(ctx, program, name); err != nil {
			fmt.Fprintln(os.Stderr, "cluster:", err)
		}
	}
	fmt.Println(c.Kubeconfig)
	<-ctx.Done()
	return c.Stop()
}
