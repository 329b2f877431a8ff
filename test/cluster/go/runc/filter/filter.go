// Package filter compiles the seccomp profile of a container and loads it. It stands in for libseccomp, a C library
// that a machine need not have, and knows what containerd's default profile uses. System calls of other architectures
// than the machine's own get the default action.
package filter

import (
	"fmt"
	"math"
	"runtime"
	"unsafe"

	"github.com/elastic/go-seccomp-bpf/arch"
	"github.com/opencontainers/runc/libcontainer/configs"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Load confines the calling thread, and what it executes, to the profile.
func Load(profile *configs.Seccomp) error {
	program, err := compile(profile)
	if err != nil {
		return err
	}
	assembled, err := bpf.Assemble(program)
	if err != nil {
		return fmt.Errorf("assembling the seccomp filter: %w", err)
	}
	filter := make([]unix.SockFilter, 0, len(assembled))
	for _, one := range assembled {
		filter = append(filter, unix.SockFilter{Code: one.Op, Jt: one.Jt, Jf: one.Jf, K: one.K})
	}
	loaded := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	err = unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&loaded)), 0, 0)
	runtime.KeepAlive(filter)
	return err
}

// Offsets in struct seccomp_data of the kernel.
const (
	numberAt       = 0
	architectureAt = 4
	argumentsAt    = 16
)

func load(offset uint32) bpf.Instruction {
	return bpf.LoadAbsolute{Off: offset, Size: 4}
}

func compile(profile *configs.Seccomp) ([]bpf.Instruction, error) {
	machine, err := arch.GetInfo("")
	if err != nil {
		return nil, err
	}
	otherwise, err := action(profile.DefaultAction, profile.DefaultErrnoRet)
	if err != nil {
		return nil, err
	}
	program := []bpf.Instruction{
		load(architectureAt),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(machine.ID), SkipTrue: 1},
		otherwise,
		load(numberAt),
	}
	for _, call := range profile.Syscalls {
		number, ok := machine.SyscallNames[call.Name]
		if !ok {
			continue // of another architecture, or newer than the table
		}
		rule, err := rule(uint32(number), call)
		if err != nil {
			return nil, fmt.Errorf("seccomp rule of %s: %w", call.Name, err)
		}
		program = append(program, rule...)
	}
	return append(program, otherwise), nil
}

func action(wanted configs.Action, errno *uint) (bpf.Instruction, error) {
	switch wanted {
	case configs.Allow:
		return bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}, nil
	case configs.Errno:
		number := uint32(unix.EPERM)
		if errno != nil {
			number = uint32(*errno)
		}
		return bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | number}, nil
	default:
		return nil, fmt.Errorf("action %d is not supported without libseccomp", wanted)
	}
}

// rule begins and, where it does not apply, ends with the number of the system call in the accumulator.
func rule(number uint32, call *configs.Syscall) ([]bpf.Instruction, error) {
	applied, err := action(call.Action, call.ErrnoRet)
	if err != nil {
		return nil, err
	}
	conditional := []bpf.Instruction{applied}
	for _, argument := range call.Args {
		conditions, err := condition(argument, uint8(len(conditional)))
		if err != nil {
			return nil, err
		}
		conditional = append(conditions, conditional...)
	}
	if len(call.Args) > 0 {
		conditional = append(conditional, load(numberAt))
	}
	isCall := bpf.JumpIf{Cond: bpf.JumpEqual, Val: number, SkipFalse: uint8(len(conditional))}
	return append([]bpf.Instruction{isCall}, conditional...), nil
}

// condition continues if it holds, and skips as many more instructions if not. The kernel compares 32 bits at a time.
func condition(argument *configs.Arg, skip uint8) ([]bpf.Instruction, error) {
	low := argumentsAt + 8*uint32(argument.Index)
	at := words{low: low, high: low + 4}
	switch argument.Op {
	case configs.EqualTo:
		return at.masked(math.MaxUint64, argument.Value, skip), nil
	case configs.MaskEqualTo:
		return at.masked(argument.Value, argument.ValueTwo, skip), nil
	case configs.NotEqualTo:
		return at.compared(bpf.JumpNotEqual, bpf.JumpNotEqual, argument.Value, skip), nil
	case configs.GreaterThan:
		return at.compared(bpf.JumpGreaterThan, bpf.JumpGreaterThan, argument.Value, skip), nil
	case configs.GreaterThanOrEqualTo:
		return at.compared(bpf.JumpGreaterThan, bpf.JumpGreaterOrEqual, argument.Value, skip), nil
	case configs.LessThan:
		return at.compared(bpf.JumpLessThan, bpf.JumpLessThan, argument.Value, skip), nil
	case configs.LessThanOrEqualTo:
		return at.compared(bpf.JumpLessThan, bpf.JumpLessOrEqual, argument.Value, skip), nil
	default:
		return nil, fmt.Errorf("no comparison %d", argument.Op)
	}
}

// words are the offsets of the two halves of an argument.
type words struct{ low, high uint32 }

func (at words) masked(mask, value uint64, skip uint8) []bpf.Instruction {
	return []bpf.Instruction{
		load(at.low),
		bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: uint32(mask)},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(value), SkipFalse: skip + 3},
		load(at.high),
		bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: uint32(mask >> 32)},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(value >> 32), SkipFalse: skip},
	}
}

// compared holds where the high halves decide for it, or where they are equal and the low halves do.
func (at words) compared(high, low bpf.JumpTest, value uint64, skip uint8) []bpf.Instruction {
	return []bpf.Instruction{
		load(at.high),
		bpf.JumpIf{Cond: high, Val: uint32(value >> 32), SkipTrue: 3},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: uint32(value >> 32), SkipTrue: skip + 2},
		load(at.low),
		bpf.JumpIf{Cond: low, Val: uint32(value), SkipFalse: skip},
	}
}
