package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// sh runs `-c SCRIPT`, or its standard input.
func sh(args ...string) error {
	var source io.Reader = os.Stdin
	if len(args) > 1 && args[0] == "-c" {
		source = strings.NewReader(args[1])
	}
	script, err := syntax.NewParser().Parse(source, "sh")
	if err != nil {
		return err
	}
	runner, err := interp.New(
		interp.StdIO(os.Stdin, os.Stdout, os.Stderr),
		interp.CallHandler((&traps{actions: map[os.Signal]string{}, caught: make(chan os.Signal, 1)}).handle),
	)
	if err != nil {
		return err
	}
	return runner.Run(context.Background(), script)
}

var signals = map[string]os.Signal{"TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "HUP": syscall.SIGHUP}

// traps are the actions of `trap ACTION SIGNAL`, which the interpreter lacks.
type traps struct {
	actions map[os.Signal]string
	caught  chan os.Signal
}

// handle is called before each simple command and returns what runs in its place. As in any shell, the action of a
// signal runs after the command during which it came.
func (t *traps) handle(_ context.Context, args []string) ([]string, error) {
	select {
	case caught := <-t.caught:
		return t.after(t.actions[caught], args)
	default:
	}
	if len(args) != 3 || args[0] != "trap" || signals[args[2]] == nil {
		return args, nil
	}
	trapped := signals[args[2]]
	t.actions[trapped] = args[1]
	signal.Notify(t.caught, trapped)
	return []string{"true"}, nil
}

func (t *traps) after(action string, args []string) ([]string, error) {
	quoted := make([]string, 0, len(args))
	for _, arg := range args {
		word, err := syntax.Quote(arg, syntax.LangBash)
		if err != nil {
			return nil, err
		}
		quoted = append(quoted, word)
	}
	return []string{"eval", action + "\n" + strings.Join(quoted, " ")}, nil
}
