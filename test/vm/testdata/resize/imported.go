//go:build imported

package main

import _ "github.com/procfit/procfit/maxprocs/auto"
