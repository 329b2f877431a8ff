package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// sleep SECONDS, a fraction allowed.
func sleep(args ...string) error {
	seconds, err := strconv.ParseFloat(strings.Join(args, " "), 64)
	if err != nil {
		return err
	}
	time.Sleep(time.Duration(seconds * float64(time.Second)))
	return nil
}

// seq FIRST LAST
func seq(args ...string) error {
	numbers, err := integers(args)
	if err != nil || len(numbers) != 2 {
		return errors.Join(err, errors.New("usage: seq FIRST LAST"))
	}
	out := bufio.NewWriter(os.Stdout)
	for i := numbers[0]; i <= numbers[1]; i++ {
		fmt.Fprintln(out, i)
	}
	return out.Flush()
}

func integers(words []string) ([]int64, error) {
	var numbers []int64
	for _, word := range words {
		number, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, number)
	}
	return numbers, nil
}

// ln [-s] TARGET LINK
func ln(args ...string) error {
	link := os.Link
	if len(args) > 0 && args[0] == "-s" {
		link, args = os.Symlink, args[1:]
	}
	if len(args) != 2 {
		return errors.New("usage: ln [-s] TARGET LINK")
	}
	if info, err := os.Stat(args[1]); err == nil && info.IsDir() {
		args[1] = filepath.Join(args[1], filepath.Base(args[0]))
	}
	return link(args[0], args[1])
}

// dd if=FILE of=FILE bs=BYTES count=BLOCKS [seek=BLOCKS]
func dd(args ...string) error {
	files := map[string]string{"if": "", "of": ""}
	sizes := map[string]int64{"bs": 512, "count": 0, "seek": 0}
	for _, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		number, err := strconv.ParseInt(value, 10, 64)
		if _, ok := files[name]; ok {
			files[name] = value
		} else if _, ok := sizes[name]; ok && err == nil {
			sizes[name] = number
		} else {
			return fmt.Errorf("unknown operand %q", arg)
		}
	}
	return copyBlocks(files["if"], files["of"], sizes)
}

func copyBlocks(from, to string, sizes map[string]int64) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	defer out.Close()
	start := sizes["seek"] * sizes["bs"]
	if err := out.Truncate(start); err != nil {
		return err
	}
	if _, err := out.Seek(start, io.SeekStart); err != nil {
		return err
	}
	// In blocks, so that what a full disk or a killed container leaves is as with the real one.
	block := make([]byte, sizes["bs"])
	for range sizes["count"] {
		// A signal of Go's scheduler cuts a single read of /dev/zero short.
		n, err := io.ReadFull(in, block)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
		if _, err := out.Write(block[:n]); err != nil {
			return err
		}
	}
	return out.Close()
}
