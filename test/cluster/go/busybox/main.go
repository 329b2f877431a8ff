// Command busybox is a shell and the commands of the test images, in one static program: the first argument, or the
// name it is started by, selects one. It is no Debian package, so that Go is all that the test images need.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/u-root/u-root/pkg/core/cat"
	"github.com/u-root/u-root/pkg/core/chmod"
	"github.com/u-root/u-root/pkg/core/ls"
	"github.com/u-root/u-root/pkg/core/mkdir"
	"github.com/u-root/u-root/pkg/core/rm"
	"github.com/u-root/u-root/pkg/core/touch"
	"mvdan.cc/sh/v3/interp"
)

var commands = map[string]func(args ...string) error{
	"cat":   cat.New().Run,
	"chmod": chmod.New().Run,
	"dd":    dd,
	"ln":    ln,
	"ls":    ls.New().Run,
	"mkdir": mkdir.New().Run,
	"rm":    rm.New().Run,
	"seq":   seq,
	"sh":    sh,
	"sleep": sleep,
	"touch": touch.New().Run,
	"true":  func(...string) error { return nil },
	// A process of several threads cannot have this: it is an invalid argument, unless a seccomp filter forbids it first.
	"unshare": func(...string) error { return syscall.Unshare(syscall.CLONE_NEWUSER) },
}

func main() {
	name, args := filepath.Base(os.Args[0]), os.Args[1:]
	if name == "busybox" && len(args) > 0 {
		name, args = args[0], args[1:]
	}
	if os.Getpid() == 1 {
		// The kernel drops a signal that the first process of a container does not handle. Go handles all of them.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)
	}
	os.Exit(run(name, args))
}

func run(name string, args []string) int {
	command, ok := commands[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "busybox: no command %q\n", name)
		return 127
	}
	err := command(args...)
	var status interp.ExitStatus
	switch {
	case err == nil:
		return 0
	case errors.As(err, &status):
		return int(status)
	default:
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		return 1
	}
}
